"""Real runs whose tokens can be checked: decisions repeat, and NaN lies where nobody owns."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import attrs
import torch

from hwmodels.torch_executor.executor import TorchExecutor
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import Engine, StepOutcome, StepPlan, StepRecord, Watcher


@attrs.frozen
class Emitting(TorchExecutor):
    """Keeps all tokens emitted. Every step lasts a second, so that decisions repeat."""

    pads: ClassVar[bool] = True  # a second, padded or not
    emitted: dict[str, list[int]] = attrs.field(factory=dict)

    def execute(self, plan: StepPlan) -> StepOutcome:
        outcome = super().execute(plan)
        for name, token in (outcome.tokens or {}).items():
            self.emitted.setdefault(name, []).append(token)
        return outcome._replace(duration=1.0)


@attrs.frozen
class Watched(Emitting):
    """Fills what requests own and have still to write with NaN, before every step."""

    def execute(self, plan: StepPlan) -> StepOutcome:
        _poison_unwritten(self.runner.pool, plan)
        return super().execute(plan)


def _poison_unwritten(pool: KVPool, plan: StepPlan) -> None:
    """All but the blocks that this step copies out."""
    pool.wait_for_copies()
    leaving = {block for swap in plan.swapped_out for block in swap.sources}
    for share in plan.scheduled:
        first, used = divmod(share.num_computed_tokens, pool.block_size)
        for block in share.block_ids[first:]:
            if block not in leaving and block < len(pool.device[0]):
                for tensor in pool.device:
                    tensor[block, used:] = math.nan
            used = 0


class PoisonFree(Watcher):
    """Fills all free blocks without cached content after every step, here and on the host."""

    single_steps = True

    def __init__(self, pool: KVPool) -> None:
        self._pool = pool

    def follow(self, engine: Engine) -> None:
        """Say whose blocks they are, before the first step."""
        self._kv = engine.state.kv

    def stepped(self, record: StepRecord) -> None:
        self._pool.poison(_contentless(self._kv.device), _contentless(self._kv.host))


def _contentless(pool: Any) -> list[int]:
    order: list[int] = pool.free_order()
    return order[: pool.num_free - pool.num_cached_free]


@cache
def generated(loaded: LoadedModel, prompt: Sequence[int], count: int) -> tuple[int, ...]:
    """`count` tokens by transformers' own `generate`, alone, with eager attention."""
    net = loaded.model
    ids = torch.tensor([prompt], device=net.device)
    implementation = net.config._attn_implementation
    net.set_attn_implementation("eager")
    try:
        whole = net.generate(
            ids,
            attention_mask=torch.ones_like(ids),  # without one, all that equals the padding is out
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
    finally:
        net.set_attn_implementation(implementation)
    return tuple(whole[0, len(prompt) :].tolist())
