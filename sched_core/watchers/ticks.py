"""What every request did in every step: a run to be read line by line."""

from collections.abc import Mapping

import attrs

from sched_core.execution.plan import StepPlan
from sched_core.limits import NANOSECONDS
from sched_core.request import Request, RequestState
from sched_core.scheduler.state import SchedulerState

LEGEND = (
    "p8 prefills 8 tokens, d decodes one, + joined in this step, * finished with it, - runs but "
    "got nothing, w waits, s waits with its KV on the host, x lost its place"
)


@attrs.frozen
class Tick:
    """One step."""

    step: int
    time: float
    """When it started, in seconds."""
    budget_left: int
    free_blocks: int
    """Of the device, after the step."""
    cells: dict[str, str]
    """Request id -> what it did, in the signs of LEGEND; absent before arrival and after the
    end."""
    events: list[str]
    """Who was preempted for whom, who was rejected, and which component decided; "default" is
    the engine's own rule."""


class Ticks:
    """A watcher for `Engine` that keeps a Tick of each step."""

    def __init__(self) -> None:
        self.ticks: list[Tick] = []
        self._emitted: dict[Request, int] = {}

    def __call__(
        self,
        plan: StepPlan,
        state: SchedulerState,
        finished: list[Request],
        rejected: Mapping[str, str],
    ) -> None:
        """Take in a step, as the engine left it."""
        joined = {*plan.admitted, *plan.resumed}
        cells = {request.id: _idle(request) for request in (*state.running, *state.waiting)}
        for request, tokens in plan.scheduled():
            decodes = tokens == 1 and self._emitted.get(request, 0) > 0
            did = "d" if decodes else f"p{tokens}"
            cells[request.id] = "+" * (request in joined) + did + "*" * (request in finished)
            self._emitted[request] = state.lockstep.emitted(request)
        cells |= {request.id: "x" for request in plan.preempted}
        self.ticks.append(
            Tick(
                plan.step,
                plan.time_ns / NANOSECONDS,
                state.config.max_num_batched_tokens - plan.num_tokens,
                state.kv.free_blocks,
                cells,
                _events(plan, state, rejected),
            )
        )


def _idle(request: Request) -> str:
    signs = {RequestState.RUNNING: "-", RequestState.SWAPPED: "s"}
    return signs.get(request.state, "w")


def _events(plan: StepPlan, state: SchedulerState, rejected: Mapping[str, str]) -> list[str]:
    events = [f"{name} rejected: {reason}" for name, reason in rejected.items()]
    for taken in plan.preemptions:
        whom = "itself" if taken.victim is taken.beneficiary else taken.beneficiary.id
        mode = taken.mode.value + (f" ({taken.mode_by})" if taken.mode_by != "default" else "")
        events.append(f"{taken.victim.id} out for {whom}: {taken.chosen_by}, {mode}")
    chooser = state.policy.decider("select_admissions")
    if chooser != "default" and (joined := [r.id for r in (*plan.admitted, *plan.resumed)]):
        events.append(f"{', '.join(joined)} in: {chooser}")
    return events
