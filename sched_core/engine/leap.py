"""Many steps at once: decodes that nothing can disturb until the next event.

The results are the same bytes as step by step; only the work per step is less, since no plan is
made for steps that are all alike. A leap ends with a step in which a member of the lockstep
finishes, with one that has begun and not ended when the next event comes, or where blocks are
short. Its last step has begun only: what comes of it is taken in when it ends.
"""

from collections.abc import Callable

from sched_core.execution.load import StepLoad, decode_load
from sched_core.metrics.recorder import Recorder
from sched_core.scheduler.state import SchedulerState

Prices = Callable[[StepLoad, int], list[int]]
"""(load, n) -> nanoseconds of n steps of decodes, the first of which is `load`."""

LONGEST = 4096
"""Steps that are priced in one go."""


def may_leap(state: SchedulerState) -> bool:
    """Are the coming steps decodes of all that run, and can nobody join meanwhile?

    Whom the last step could not admit stays out: decodes take memory and give none back, and no
    seat comes free before one of them ends.
    """
    size = state.lockstep.size
    return (
        0 < size <= state.config.max_num_batched_tokens
        and not state.alone
        and (not len(state.waiting) or state.nobody_joins or size >= state.seats)
    )


def leap(
    state: SchedulerState, recorder: Recorder, price: Prices, until_ns: float, step_ns: int
) -> list[int]:
    """Begin steps from `state.now_ns` on while they start before `until_ns` and are alike; returns
    what each takes, in nanoseconds. `step_ns` is about what one takes.

    All but the last are over then. None are begun where blocks are short at once.
    """
    lockstep, kv = state.lockstep, state.kv
    size, left = lockstep.size, lockstep.ticks_left()
    now, free, durations = state.now_ns, kv.free_blocks, list[int]()
    used, block_ns = kv.num_blocks - free, 0
    while left and now < until_ns:
        most = min(left, LONGEST, (until_ns - now) // step_ns + 2)  # a guess: priced in vain if low
        load = decode_load(size, lockstep.context + len(durations) * size)
        for duration in price(load, int(most)):
            if now >= until_ns:
                break
            if due := lockstep.num_due(len(durations)):
                if due > free:
                    left = 0
                    break
                if not kv.by_count:
                    for request in lockstep.due(len(durations)):
                        kv.grow_one(request)
                free -= due
                used += due
            now += duration
            block_ns += used * duration
            durations.append(duration)
            left -= 1
    if durations:
        if kv.by_count:
            kv.owed += kv.free_blocks - free
        recorder.leap(durations, block_ns, used, len(state.waiting), size)
        recorder.gaps_of_leap(state.now_ns - lockstep.emitted_ns, durations, size)
        state.now_ns = now - durations[-1]
        if len(durations) > 1:
            lockstep.advance(state.now_ns, len(durations) - 1)
            state.step += len(durations) - 1
    return durations
