"""What the invariants look at: a step with what was before it, and a run at its end."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import attrs

from sched_core.engine.engine import Engine
from sched_core.execution.plan import StepPlan
from sched_core.execution.step_record import StepRecord
from sched_core.metrics.latency import Columns, in_state
from sched_core.request import Key, Request, RequestState
from sched_core.scheduler.state import SchedulerState


class Progress(NamedTuple):
    """How a request stood at the end of a step."""

    computed: int = 0
    """Positions in memory."""
    emitted: int = 0
    running: bool = False
    key: tuple[Key, int, int] = (0.0, 0, 0)
    """Its place in the order of the queue."""
    by_passed: int = 0
    """How often so far somebody behind it in the queue was admitted while it was not."""


class Yielded(NamedTuple):
    """Who lost its place, for whom, and who said so."""

    victim: Request
    beneficiary: Request | None
    """None where a policy took the victim out for nobody in particular."""
    chosen_by: str


@attrs.frozen
class Observed:
    """One executed step, seen from outside."""

    record: StepRecord
    engine: Engine
    finished: Sequence[Request]
    order: Sequence[Request]
    """Who computed, in the order granted."""
    grants: Mapping[Request, int]
    """Tokens of everyone that computed."""
    joined: Sequence[Request]
    """Who joined the batch, for the first time or again."""
    yielded: Sequence[Yielded]
    before: Mapping[Request, Progress]
    """Everyone alive at the end of the previous step."""
    after: Mapping[Request, Progress]
    """Everyone alive, or finished in this step."""
    waiting: Sequence[Request]
    idle_since_ns: int
    """When the previous step ended."""

    @property
    def plan(self) -> StepPlan:
        """As data."""
        return self.record.plan

    @property
    def state(self) -> SchedulerState:
        """As the step left it."""
        return self.engine.state

    @property
    def preempted(self) -> list[Request]:
        """The victims, in the order in which they were taken."""
        return [each.victim for each in self.yielded]

    @property
    def running(self) -> list[Request]:
        """Running after the step, in order of admission."""
        return self.state.running

    @property
    def holders(self) -> list[Request]:
        """Who owns device blocks: running, and ended members of a static batch."""
        return [*self.state.running, *held(self.state)]

    @property
    def ran(self) -> list[Request]:
        """Who ran before the step and was not preempted in it."""
        stayed = (*self.running, *self.finished)
        return [r for r in stayed if self.before.get(r, Progress()).running]

    def uses(self, *hooks: str) -> bool:
        """Does the policy implement one of `hooks`?"""
        return not self.state.policy.uses.isdisjoint(hooks)


def held(state: SchedulerState) -> list[Request]:
    """Ended members of a static batch, which keep their blocks."""
    return state.static_batch.ended_holding if state.static_batch else []


@attrs.frozen
class Ended:
    """A run at its end, with what was seen of it on the way."""

    engine: Engine
    granted: int
    """Tokens, summed over the plans."""
    copied: int
    """Blocks copied to the host or back, summed over the plans."""
    told: Counter[tuple[str, str]]
    """(event, request id) -> how often observers were told; the tokens of `tokens_computed`."""

    @property
    def columns(self) -> Columns:
        """The records, by column."""
        return self.engine.recorder.columns()

    @property
    def finished(self) -> Columns:
        """The records of the requests that finished."""
        columns = self.columns
        done = in_state(columns, RequestState.FINISHED)
        return {name: column[done] for name, column in columns.items()}

    @property
    def complete(self) -> bool:
        """Has every request finished, or been refused? Else work was cut off in the middle."""
        return bool(in_state(self.columns, RequestState.FINISHED, RequestState.REJECTED).all())
