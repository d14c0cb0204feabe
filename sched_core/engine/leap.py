"""Many steps at once: decodes that nothing can disturb until the next event.

The results are the same bytes as step by step; only the work per step is less, since no plan is
made for steps that are all alike.
"""

from collections.abc import Callable

from sched_core.config import EngineConfig
from sched_core.execution.plan import StepLoad
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.scheduler.state import SchedulerState

EVERY_STEP = frozenset(("order_running", "step_budget", "tokens_computed"))
"""Hooks that want to be called in every step."""


def may_leap(config: EngineConfig, policy: Policy) -> bool:
    """Can there be steps in which neither policy nor batching has a word?"""
    return config.batching == "continuous" and not policy.uses & EVERY_STEP


def leap(
    state: SchedulerState,
    recorder: Recorder,
    price: Callable[[StepLoad], int],
    until_ns: float,
) -> None:
    """Run decode steps from `state.now_ns` on while they start before `until_ns` and are alike.

    That ends when a member is due to finish, or blocks are short. Nobody may be admitted
    meanwhile: either nobody waits, or no seat is free. `price` gives a step's nanoseconds.
    """
    lockstep, kv = state.lockstep, state.kv
    size = lockstep.size
    if state.stragglers or not size or size > state.config.max_num_batched_tokens:
        return
    if len(state.waiting) and len(state.running) < state.seats:
        return
    while (
        state.now_ns < until_ns and not lockstep.ends_now() and lockstep.num_due() <= kv.free_blocks
    ):
        for request in lockstep.due():
            kv.grow_one(request)
        load = StepLoad(decodes=size, decode_kv_tokens=lockstep.context + size, sampled=size)
        duration_ns = price(load)
        state.now_ns += duration_ns
        state.step += 1
        used = kv.num_blocks - kv.free_blocks
        recorder.decodes(duration_ns, used, len(state.waiting), size)
        recorder.gaps(state.now_ns - lockstep.emitted_ns, size)
        lockstep.advance(state.now_ns)
