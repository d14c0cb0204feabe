"""What a padded batch costs: every row is as long as the longest."""

from collections.abc import Sequence

from sched_core.config import Batching
from sched_core.errors import InputError
from sched_core.execution.executor import Executor, pads
from sched_core.execution.plan import StepLoad


def refuse_unpaid(executor: Executor, batching: Batching) -> None:
    """Raise InputError if padded batches are asked of an executor that computes no padding."""
    if batching == "padded" and not pads(executor):
        raise InputError(
            "this executor runs the tokens of a plan and no padding, so its times would be wrong",
            field="batching",
            value=batching,
            expected="continuous or static, or a hardware model that prices the padding",
        )


def padded(rows: Sequence[tuple[int, int]], idle: Sequence[int]) -> StepLoad:
    """The load of a step over `rows` of (computed, new) tokens and rows that are done.

    `idle` holds the context of each row that has ended but keeps its place: it is computed along
    with the others. New tokens are padded to the longest row's, contexts to the longest context.
    """
    if not rows:
        return StepLoad()
    count = len(rows) + len(idle)
    width = max(new for _, new in rows)
    context = max([computed + new for computed, new in rows] + list(idle))
    if width == 1:
        return StepLoad(decodes=count, decode_kv_tokens=count * context, sampled=count)
    return StepLoad(
        prefills=count,
        prefill_tokens=count * width,
        prefill_kv_tokens=count * context,
        prefill_pairs=count * (width * (context - width) + width * (width + 1) // 2),
        sampled=count,
    )
