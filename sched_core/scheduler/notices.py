"""What observers are told, and how a request ends."""

from sched_core.limits import NANOSECONDS
from sched_core.request import Request, RequestState
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState


def tell(state: SchedulerState, event: str, request: Request, *args: object) -> None:
    """Tell the observers; an "event" key of the request's tenant may have moved."""
    policy = state.policy
    if policy.moves == "event":
        state.touched_tenants.add(request.tenant)
    if event in policy.uses:
        policy.tell(event, request.view, *args, state.now_ns / NANOSECONDS)


def tell_computed(state: SchedulerState, builder: PlanBuilder) -> None:
    """Tell of all tokens of a step; keys move by them whether or not anybody listens."""
    moves, told = state.policy.moves == "event", "tokens_computed" in state.policy.uses
    if moves or told:
        for request in builder.order():
            if told:
                tell(state, "tokens_computed", request, builder.grants.get(request, 1))
            else:
                state.touched_tenants.add(request.tenant)


def tell_repeated(state: SchedulerState, steps: int) -> None:
    """The same of `steps` steps in which everyone running computed a token."""
    if "tokens_computed" in state.policy.uses:
        for request in state.running:
            tell(state, "tokens_computed", request, steps)
    elif state.policy.moves == "event":
        state.touched_tenants.update(request.tenant for request in state.running)


def tell_done(state: SchedulerState, start_ns: int, steps: int) -> None:
    """Tell that a step, or so many, ended now."""
    if "step_done" in state.policy.uses:
        start, end = start_ns / NANOSECONDS, state.now_ns / NANOSECONDS
        state.policy.tell("step_done", state.view, start, end, steps)


def end(
    state: SchedulerState, request: Request, how: RequestState, reason: str | None = None
) -> None:
    """Note that a request, held by nobody any more, has ended now."""
    request.state, request.reason = how, reason
    request.finish_ns = state.now_ns
    request.end_wait(state.now_ns)
    state.recorder.ended(request)
    if reason is not None and how is RequestState.REJECTED:
        state.rejected[request.id] = reason
    state.ended_ids.append(request.id)
    tell(state, "request_finished", request)
