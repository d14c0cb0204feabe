"""Static and padded batching, as it was before continuous batching: all that is different then.

A batch is filled, then prefilled, then decoded to the end of its longest member; until then
everybody keeps its seat and its blocks.
"""

from collections.abc import Collection, Iterable, Sequence

from sched_core.config import Batching, EngineConfig
from sched_core.errors import InputError
from sched_core.execution.executor import Executor, pads
from sched_core.execution.load import StepLoad
from sched_core.memory.kv_cache import KVCache
from sched_core.request import Request


class StaticBatch:
    """The batch that is being filled, prefilled or decoded."""

    __slots__ = ("ended_holding", "open", "padded")

    def __init__(self, padded: bool) -> None:
        self.padded = padded
        """Is padding paid for?"""
        self.open = False
        """May requests still join?"""
        self.ended_holding: list[Request] = []
        """Ended members, which keep their blocks until the longest ends."""

    def takes_in(self, running: Collection[Request]) -> bool:
        """May a request join now? It may as long as the batch is filled, or when all is over."""
        return self.open or not (running or self.ended_holding)

    def prefills(self, alone: Iterable[Request]) -> bool:
        """Does anybody still prefill, so that nobody decodes?"""
        return self.open or any(map(lacks_prefill, alone))

    def hold(self, request: Request) -> None:
        """Let a member that ended keep its blocks."""
        self.ended_holding.append(request)

    def let_go(self, kv: KVCache, running: Collection[Request]) -> None:
        """When nobody runs any more the batch is over: only then its memory is free."""
        if self.ended_holding and not running:
            for request in self.ended_holding:
                kv.release(request)
            self.ended_holding.clear()

    def load(self, rows: Sequence[tuple[int, int]]) -> StepLoad:
        """What a padded step over `rows` of (computed, new) tokens holds."""
        return padded_load(rows, [request.computed for request in self.ended_holding])


def static_batch(config: EngineConfig) -> StaticBatch | None:
    """An empty batch; None in continuous batching."""
    return None if config.batching == "continuous" else StaticBatch(config.batching == "padded")


def refuse_unpaid(executor: Executor, batching: Batching) -> None:
    """Raise InputError if padded batches are asked of an executor that computes no padding."""
    if batching == "padded" and not pads(executor):
        raise InputError(
            "this executor runs the tokens of a plan and no padding, so its times would be wrong",
            field="batching",
            value=batching,
            expected="continuous or static, or a hardware model that prices the padding",
        )


def padded_load(rows: Sequence[tuple[int, int]], idle: Iterable[int]) -> StepLoad:
    """The load of a step over `rows` of (computed, new) tokens and rows that are done.

    `idle` holds the context of each row that has ended but keeps its place: it is computed along
    with the others. New tokens are padded to the longest row's, contexts to the longest context.
    """
    if not rows:
        return StepLoad()
    contexts = [*(computed + new for computed, new in rows), *idle]
    count, context, width = len(contexts), max(contexts), max(new for _, new in rows)
    if width == 1:
        return StepLoad(decodes=count, decode_kv_tokens=count * context, sampled=count)
    return StepLoad(
        prefills=count,
        prefill_tokens=count * width,
        prefill_kv_tokens=count * context,
        prefill_pairs=count * (width * (context - width) + width * (width + 1) // 2),
        sampled=count,
    )


def lacks_prefill(request: Request) -> bool:
    """Is a running request outside lockstep still in its prefill?"""
    return is_prefill(request, request.computed)


def is_prefill(request: Request, computed: int) -> bool:
    """Does it lack more than one new decode token from position `computed`?"""
    return request.emitted == 0 or request.prompt_len + request.emitted - computed > 1
