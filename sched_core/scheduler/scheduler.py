"""The steps of one engine: running requests first, then waiting ones, as vLLM V1 has it.

`schedule` decides and takes the memory, `complete` takes in what the step brought. All state is
in `SchedulerState`; `Batch` holds what the step under construction will do.
"""

from sched_core.execution.plan import StepPlan
from sched_core.request import Request, RequestState
from sched_core.scheduler import admission, running
from sched_core.scheduler import completion as outcome
from sched_core.scheduler import notices as events
from sched_core.scheduler.plan_builder import Batch
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import RequestView


class Scheduler:
    """Turns the state into step plans, and their outcomes back into state."""

    def __init__(self, state: SchedulerState) -> None:
        self.state = state

    def add(self, request: Request, refusal: str | None) -> None:
        """Take in an arrival: queue it, or reject it for the reason `refusal`."""
        state = self.state
        request.view = RequestView(request, state)
        if refusal is None:
            request.state = RequestState.WAITING
        events.tell(state, "request_arrived", request)
        if refusal is None:
            state.waiting.add(request)
        else:
            events.end(state, request, RequestState.REJECTED, refusal)

    def abort(self, request: Request) -> None:
        """Let a request go whose client gave up; all that it holds is free at once."""
        state = self.state
        if request.state is RequestState.RUNNING:
            if request.joined >= 0:
                state.lockstep.leave(request)
            else:
                state.stragglers.remove(request)
            state.running.remove(request)
        else:
            state.waiting.remove(request)
        state.kv.release(request)
        events.let_go(state)
        events.end(state, request, RequestState.ABORTED, "the client gave up")

    def schedule(self, now_ns: int) -> StepPlan | None:
        """Decide the step that starts at `now_ns`; None if nothing at all changes in it."""
        state = self.state
        self._begin(now_ns)
        batch = Batch(state)
        if state.running:
            running.grant(state, batch, running.turn(state, batch))
        if len(state.waiting) and not batch.preemptions:
            admission.admit(state, batch)
        if state.static and state.running and not state.granted:
            state.forming = False  # nobody is left to prefill: now they decode together
            running.grant(state, batch, running.everyone(state, batch))
        plan = batch.plan(tuple(state.ended))
        if plan is not None and any(plan.load):  # others are not executed
            state.ended.clear()
        return plan

    def _begin(self, now_ns: int) -> None:
        state = self.state
        state.now_ns = now_ns
        state.granted = 0
        state.joined.clear()
        state.budget_left = state.config.max_num_batched_tokens
        if "step_budget" in state.policy.uses:
            state.budget_left = state.policy.step_budget(state.view, state.budget_left)

    def complete(self, plan: StepPlan, end_ns: int) -> list[Request]:
        """Take in a step that ended at `end_ns`; returns who finished, in the order granted."""
        return outcome.take_in(self.state, plan, end_ns)
