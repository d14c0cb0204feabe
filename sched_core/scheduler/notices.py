"""What observers are told, and how a request ends."""

from sched_core.execution.plan import StepPlan
from sched_core.limits import NANOSECONDS
from sched_core.request import Request, RequestState
from sched_core.scheduler.state import SchedulerState


def tell(state: SchedulerState, event: str, request: Request, *args: object) -> None:
    """Tell the observers; an "event" key of the request's tenant may have moved."""
    if state.policy.moves == "event":
        state.restless.add(request.tenant)
    if event in state.policy.uses:
        state.policy.tell(event, request.view, *args, state.now_ns / NANOSECONDS)


def tell_computed(state: SchedulerState, plan: StepPlan) -> None:
    """Tell of all tokens of a step; keys move by them whether or not anybody listens.

    A leap repeats a step in which everyone running computed, so it adds no tenant to these.
    """
    if state.policy.moves == "event":
        state.restless.update(request.tenant for request in plan.order)
    if "tokens_computed" in state.policy.uses:
        for request, tokens in plan.scheduled():
            tell(state, "tokens_computed", request, tokens)


def end(
    state: SchedulerState, request: Request, how: RequestState, reason: str | None = None
) -> None:
    """Note that a request, held by nobody any more, has ended now."""
    request.state, request.reason = how, reason
    request.finish_ns = state.now_ns
    request.end_wait(state.now_ns)
    state.recorder.ended(request)
    state.ended.append(request.id)
    tell(state, "request_finished", request)


def let_go(state: SchedulerState) -> None:
    """A static batch is over when nobody in it runs: only then its memory is free."""
    if state.held and not state.running:
        for request in state.held:
            state.kv.release(request)
        state.held.clear()
