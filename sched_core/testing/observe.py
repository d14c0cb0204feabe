"""What the invariants look at: a step with what was before it, and a run at its end."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import attrs

from sched_core.engine import Engine
from sched_core.plan import StepPlan
from sched_core.request import Request
from sched_core.state import SchedulerState


class Progress(NamedTuple):
    """How far a request was: positions in memory, tokens emitted."""

    computed: int = 0
    emitted: int = 0


@attrs.frozen
class Observed:
    """One executed step, seen from outside."""

    plan: StepPlan
    state: SchedulerState
    finished: list[Request]
    rejected: Mapping[str, str]
    grants: dict[Request, int]
    """Tokens of everyone that computed, in the order granted."""
    before: Mapping[Request, Progress]
    """Progress at the end of the previous step; absent before the first grant."""
    after: Mapping[Request, Progress]
    """Progress of everyone alive or finished in this step."""
    waiting: list[Request]
    engine: Engine

    @property
    def running(self) -> list[Request]:
        """Running after the step, in order of admission."""
        return self.state.running

    @property
    def holders(self) -> list[Request]:
        """Who owns device blocks: running, and ended members of a static batch."""
        return [*self.state.running, *self.state.held]

    @property
    def swapped(self) -> list[Request]:
        """Waiting with their KV on the host."""
        return [request for request in self.waiting if request.host_blocks]


StepCheck = Callable[[Observed], Iterator[str]]
RunCheck = Callable[[Engine], Iterator[str]]

STEP_CHECKS: dict[str, StepCheck] = {}
RUN_CHECKS: dict[str, RunCheck] = {}
FCFS_CHECKS: dict[str, StepCheck] = {}
"""What holds under first come, first served with the youngest as victim, and only there."""


def invariant(name: str, registry: dict[str, Any]) -> Callable[[Any], Any]:
    """File a check under its name; it yields a sentence for everything that is wrong."""

    def file(check: Any) -> Any:
        registry[name] = check
        return check

    return file


class InvariantError(AssertionError):
    """An invariant does not hold; `name` is the check's."""

    def __init__(self, name: str, problem: str) -> None:
        self.name = name
        super().__init__(f"{name}: {problem}")


class Ledger:
    """Watches an engine and raises InvariantError at the first step that breaks a rule."""

    def __init__(self, *, fcfs: bool = False) -> None:
        self._checks = STEP_CHECKS | (FCFS_CHECKS if fcfs else {})
        self._progress: dict[Request, Progress] = {}
        self.engine: Engine
        self.steps = 0

    def __call__(
        self,
        plan: StepPlan,
        state: SchedulerState,
        finished: list[Request],
        rejected: Mapping[str, str],
    ) -> None:
        """Check one step; pass the ledger as `watch` to `Engine` and set `engine`."""
        waiting = state.waiting.ordered()
        everyone = (*state.running, *waiting, *finished)
        after = {
            r: Progress(state.lockstep.computed(r), state.lockstep.emitted(r)) for r in everyone
        }
        observed = Observed(
            plan,
            state,
            finished,
            rejected,
            dict(plan.scheduled()),
            self._progress,
            after,
            waiting,
            self.engine,
        )
        for name, check in self._checks.items():
            _require(name, check(observed), f"step {plan.step}: ")
        self._progress = {r: p for r, p in after.items() if r not in finished}
        self.steps += 1

    def close(self) -> None:
        """Check the finished run."""
        for name, check in RUN_CHECKS.items():
            _require(name, check(self.engine), "at the end: ")


def _require(name: str, problems: Iterator[str], where: str) -> None:
    for problem in problems:
        raise InvariantError(name, where + problem)
