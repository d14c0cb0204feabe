"""The second half of a step: waiting requests join the batch, one by one."""

from collections.abc import Iterable

from sched_core.request import Request, RequestState
from sched_core.scheduler import notices, preemption
from sched_core.scheduler.offer import Offer, has_room, is_open, offered, offered_less
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import request_of


def admit(state: SchedulerState, builder: PlanBuilder) -> None:
    """Let requests join, in order, until one does not fit."""
    batch = state.static_batch
    if batch is not None:
        if not batch.takes_in(state.running):
            return
        batch.open = True
    if is_open(state, builder):
        for request in _candidates(state, builder):
            if not _admit_one(state, builder, request) or not is_open(state, builder):
                break
        # budget and seats are left, and who waits was asked: it is memory that lacks, or leave;
        # without chunks it may be budget, of which prefills leave less than decodes alone will
        state.nobody_joins = (
            state.policy.declares.may_leap_past_waiting
            and not builder.preemptions
            and is_open(state, builder)
            and (state.config.enable_chunked_prefill or builder.granted == len(state.running))
        )
    elif batch is None or len(state.running) < state.seats:
        return  # a spent budget leaves a static batch as it is
    if batch is not None:  # only a spent budget leaves it open for the next step
        batch.open = builder.budget_left <= 0 and len(state.running) < state.seats


def _candidates(state: SchedulerState, builder: PlanBuilder) -> Iterable[Request]:
    _rekey(state)
    chosen, builder.admitted_by = state.policy.select_admissions(state.view)
    return state.waiting if chosen is None else map(request_of, chosen)


def _rekey(state: SchedulerState) -> None:
    moves = state.policy.moves
    if moves == "time":
        state.waiting.rekey()
    elif moves == "event" and state.touched_tenants:
        state.waiting.rekey(state.touched_tenants)
        state.touched_tenants.clear()


def _admit_one(state: SchedulerState, builder: PlanBuilder, request: Request) -> bool:
    """Admit a waiting request if it fits; False ends admission."""
    offer = offered(state, builder, request)
    if offer is None:
        return False
    if not offer.tokens:
        return True  # by its policy it shall not run now; those behind it may
    while not has_room(state, request, offer):
        if preemption.preempt_for(state, builder, request) is None:
            return False
        offer = offered_less(state, request, offer)
    _join(state, builder, request, offer)
    return True


def _join(state: SchedulerState, builder: PlanBuilder, request: Request, offer: Offer) -> None:
    state.waiting.remove(request)
    if request.state is RequestState.SWAPPED:
        builder.swap_in(state.kv.swap_in(request, request.computed + offer.tokens))
    else:
        request.start_at(offer.start)
        state.kv.admit(request, offer.hits, request.computed + offer.tokens)
    request.state = RequestState.RUNNING
    request.admitted_seq = state.admissions
    state.admissions += 1
    state.running.append(request)
    state.alone.append(request)
    builder.join(request, offer.tokens)
    notices.tell(state, "request_admitted", request)
