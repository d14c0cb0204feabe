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
    seat comes free before one of them ends, unless somebody may be asked to yield one. Who may be
    rejected meanwhile is asked in every step.
    """
    size = state.lockstep.size
    return (
        0 < size <= state.config.max_num_batched_tokens
        and not state.alone
        and state.nobody_is_taken
        and (
            not state.waiting.size
            or state.nobody_joins
            or (size >= state.seats and not (state.seats_yield or state.may_shed))
        )
    )


def leap(
    state: SchedulerState, recorder: Recorder, price: Prices, until_ns: float, step_ns: int
) -> list[int]:
    """Begin steps from `state.now_ns` on while they start before `until_ns` and are alike; returns
    what each takes, in nanoseconds. `step_ns` is about what one takes.

    All but the last are over then. None are begun where blocks are short at once.
    """
    lockstep, now = state.lockstep, state.now_ns
    left, size, blocks = lockstep.ticks_left(), lockstep.size, _Blocks(state)
    durations: list[int] = []
    while left and now < until_ns:
        most = min(left, LONGEST, int(min(until_ns - now, _FAR) // step_ns) + 2)
        load = decode_load(size, lockstep.context + len(durations) * size)
        begun = blocks.begin_steps(price(load, most), len(durations), until_ns - now)
        durations += begun
        now += sum(begun)
        left = left - most if len(begun) == most else 0
    if durations:
        blocks.note()
        recorder.leap(durations, blocks.block_ns, blocks.used, state.waiting.size, size)
        recorder.gaps_of_leap(state.now_ns - lockstep.emitted_ns, durations, size)
        state.now_ns = now - durations[-1]
        if len(durations) > 1:
            lockstep.advance(state.now_ns, len(durations) - 1)
            state.step += len(durations) - 1
    return durations


_FAR = 10**18
"""Nanoseconds: as good as never, and still an integer."""


class _Blocks:
    """The memory that a leap takes."""

    __slots__ = ("_free", "_kv", "_lockstep", "block_ns", "used")

    def __init__(self, state: SchedulerState) -> None:
        self._kv, self._lockstep = state.kv, state.lockstep
        self._free = self._kv.free_blocks
        self.used = self._kv.num_blocks - self._free
        self.block_ns = 0
        """Used blocks x duration, summed over the steps."""

    def begin_steps(self, durations: list[int], ahead: int, left_ns: float) -> list[int]:
        """Those that begin within `left_ns`, and for which there are blocks."""
        due_at, tick = self._lockstep.due_at, self._lockstep.tick + ahead
        size, free, used, block_ns, spent = len(due_at), self._free, self.used, self.block_ns, 0
        begun = 0
        for duration in durations:
            if spent >= left_ns:
                break
            if due := len(due_at[tick % size]):
                if due > free:
                    break
                if not self._kv.by_count:
                    for request in self._lockstep.due(ahead + begun):
                        self._kv.grow_one(request)
                free -= due
                used += due
            block_ns += used * duration
            spent += duration
            begun += 1
            tick += 1
        self._free, self.used, self.block_ns = free, used, block_ns
        return durations if begun == len(durations) else durations[:begun]

    def note(self) -> None:
        """What was only counted is owed from now on."""
        if self._kv.by_count:
            self._kv.owed += self._kv.free_blocks - self._free
