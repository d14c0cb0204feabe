"""The steps of one engine: running requests first, then waiting ones, as vLLM V1 has it.

`schedule` decides and takes the memory, `complete` takes in what the step brought. All state is
in `SchedulerState`; `PlanBuilder` holds what the step under construction will do.
"""

from collections.abc import Sequence

from sched_core.request import Request, RequestState
from sched_core.scheduler import admission, completion, notices, preemption, running, shedding
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import EngineHost, EngineRequestView, EngineView


class Scheduler:
    """Decides steps, and takes in what came of them."""

    def __init__(self, state: SchedulerState) -> None:
        self.state = state
        self.builder = PlanBuilder(state)
        state.view = EngineView(state, self.builder)
        state.policy.attach(EngineHost(state, self.builder))

    def add(self, request: Request, refusal: str | None) -> None:
        """Take in an arrival: queue it, or reject it for the reason `refusal`, or the policy's."""
        state = self.state
        state.stir()
        request.view = EngineRequestView(request, state)
        if refusal is None:
            request.state = RequestState.WAITING
        notices.tell(state, "request_arrived", request)
        if refusal is None and state.may_shed:
            self.builder.begin(state.config.max_num_batched_tokens)  # what the view shows is over
            refusal = shedding.reason_against(state, request)
        if refusal is None:
            state.waiting.add(request)
        else:
            notices.end(state, request, RequestState.REJECTED, refusal)

    def abort(self, request: Request) -> None:
        """Let a request go whose client gave up; all that it holds is free at once."""
        state = self.state
        if request.state is RequestState.RUNNING:
            completion.leave(state, request)
        else:
            state.waiting.remove(request)
            state.stir()  # who stands behind it may fit
        state.kv.release(request)
        if state.static_batch is not None:
            state.static_batch.let_go(state.kv, state.running)
        notices.end(state, request, RequestState.ABORTED, "the client gave up")

    def schedule(self, now_ns: int) -> bool:
        """Decide the step that starts at `now_ns`; False if nothing at all changes in it."""
        state, builder = self.state, self.builder
        state.now_ns = now_ns
        state.stir()
        budget = state.config.max_num_batched_tokens
        builder.begin(budget)
        if state.may_take_out and state.running:
            preemption.take_out(state, builder)
        builder.budget_left = state.policy.step_budget(state.view, budget)
        if state.running:
            running.grant(state, builder)
        if state.waiting.size and len(builder.preemptions) == len(builder.taken_out):
            admission.admit(state, builder)
        if state.static_batch is not None and state.running and not builder.granted:
            state.static_batch.open = False  # nobody is left to prefill: now they decode together
            running.grant_all(state, builder)
        if not (builder.grants or builder.preemptions):  # decodes alone: the next are no worse
            state.nobody_is_taken = True
        return not builder.is_empty

    def complete(self, end_ns: int) -> Sequence[Request]:
        """Take in the step, which ended at `end_ns`; returns who finished, in the order granted."""
        return completion.take_in(self.state, self.builder, end_ns)
