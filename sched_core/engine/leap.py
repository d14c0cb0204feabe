"""Many steps at once: decodes that nothing can disturb until the next event.

The results are the same bytes as step by step; only the work per step is less, since no plan is
made for steps that are all alike. A leap ends with a step in which a member of the lockstep
finishes, with one that has begun and not ended when the next event comes, or where blocks are
short. Its last step has begun only: what comes of it is taken in when it ends.
"""

from collections.abc import Callable
from itertools import groupby

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
    lockstep, now, left = state.lockstep, state.now_ns, state.lockstep.ticks_left()
    emitted, taken = lockstep.emitted_ns, _Blocks(state)
    durations: list[int] = []
    while left and now < until_ns:
        most = min(left, LONGEST, (until_ns - now) // step_ns + 2)
        load = decode_load(lockstep.size, lockstep.context + len(durations) * lockstep.size)
        for duration in price(load, int(most)):
            if now >= until_ns:
                break
            if not taken.grow(len(durations), duration):
                left = 0
                break
            durations.append(duration)
            now += duration
            left -= 1
    if durations:
        _record(state, recorder, durations, taken, emitted)
        state.now_ns = now - durations[-1]
        if len(durations) > 1:
            lockstep.advance(state.now_ns, len(durations) - 1)
            state.step += len(durations) - 1
    return durations


class _Blocks:
    """Memory taken on the way."""

    __slots__ = ("_kv", "_lockstep", "block_ns", "used")

    def __init__(self, state: SchedulerState) -> None:
        self._kv, self._lockstep = state.kv, state.lockstep
        self.used = self._kv.num_blocks - self._kv.free_blocks
        self.block_ns = 0

    def grow(self, ahead: int, duration_ns: int) -> bool:
        """The blocks for the step so many ticks ahead; False if they are short."""
        due = self._lockstep.num_due(ahead)
        if due:
            if due > self._kv.free_blocks:
                return False
            for request in self._lockstep.due(ahead):
                self._kv.grow_one(request)
            self.used += due
        self.block_ns += self.used * duration_ns
        return True


def _record(
    state: SchedulerState, recorder: Recorder, durations: list[int], taken: _Blocks, emitted: int
) -> None:
    size = state.lockstep.size
    recorder.leap(durations, taken.block_ns, taken.used, len(state.waiting), size)
    recorder.gaps(state.now_ns + durations[0] - emitted, size)
    for gap, alike in groupby(durations[1:]):
        recorder.gaps(gap, size * len(list(alike)))
