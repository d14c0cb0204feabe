"""The first half of a step: running requests, in order, each get their tokens."""

from collections.abc import Iterable, Sequence

from sched_core.request import Request, RequestState
from sched_core.scheduler import preemption
from sched_core.scheduler.plan_builder import Batch
from sched_core.scheduler.state import SchedulerState, lacks_prefill


def turn(state: SchedulerState, batch: Batch) -> Sequence[Request]:
    """Which running requests are to be granted tokens one by one, in order.

    In a static batch that is being filled only those that prefill.
    """
    if state.static and (state.forming or any(map(lacks_prefill, state.stragglers))):
        batch.break_lockstep()
        return [request for request in everyone(state, batch) if lacks_prefill(request)]
    return everyone(state, batch)


def everyone(state: SchedulerState, batch: Batch) -> Sequence[Request]:
    """All who may run, less the members of the lockstep, which get their tokens here."""
    if "order_running" not in state.policy.uses and batch.grant_lockstep():
        return tuple(state.stragglers)
    batch.break_lockstep()
    if "order_running" in state.policy.uses:
        return state.policy.order_running(state.view)
    return tuple(state.running)


def grant(state: SchedulerState, batch: Batch, requests: Iterable[Request]) -> None:
    """Give each its tokens while the budget lasts; who is preempted meanwhile gets none."""
    for request in requests:
        if state.budget_left <= 0:
            break
        if request.state is RequestState.RUNNING:
            _grant_one(state, batch, request)


def _grant_one(state: SchedulerState, batch: Batch, request: Request) -> None:
    """Tokens for one request, and the blocks for them, from whoever must yield."""
    tokens = state.chunk(request, request.computed)
    while tokens and not state.kv.grow(request, request.computed + tokens):
        victim = preemption.victim_for(state, request)
        if victim is None:
            return
        preemption.preempt(state, batch, victim, request)
        if victim is request:
            return
    if tokens:
        batch.grant(request, tokens)
