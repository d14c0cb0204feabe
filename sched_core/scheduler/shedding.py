"""Requests that a policy turns away before they ever run."""

from sched_core.request import Request, RequestState
from sched_core.scheduler import notices
from sched_core.scheduler.state import SchedulerState


def shed_heads(state: SchedulerState) -> Request | None:
    """Reject the head of the queue as long as the policy wants to; returns who is kept there."""
    while state.waiting.size:
        head = next(iter(state.waiting))
        if not shed(state, head):
            return head
    return None


def shed(state: SchedulerState, request: Request) -> bool:
    """Reject a waiting request if the policy wants to; True if so."""
    reason = reason_against(state, request)
    if reason is None:
        return False
    state.waiting.remove(request)
    state.sheds.append(request)
    notices.end(state, request, RequestState.REJECTED, reason)
    return True


def reason_against(state: SchedulerState, request: Request) -> str | None:
    """Why the policy turns a request away; None if it does not, or if the request has run."""
    if not state.may_shed or has_run(request):
        return None
    return state.policy.reject_request(state.view, request.view)


def has_run(request: Request) -> bool:
    """Did it ever join the batch?"""
    return request.admitted_seq >= 0
