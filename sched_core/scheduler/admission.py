"""The second half of a step: waiting requests join the batch, one by one."""

import warnings
from collections.abc import Iterable

from sched_core.policy.declarations import KEPT
from sched_core.request import Request, RequestState
from sched_core.scheduler import notices, preemption
from sched_core.scheduler.offer import Offer, has_room, has_seat, is_open, offered, offered_less
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.shedding import shed, shed_heads
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import request_of


def admit(state: SchedulerState, builder: PlanBuilder) -> None:
    """Let requests join, in order, until one does not fit."""
    head = shed_heads(state) if state.may_shed else None
    if not state.waiting.size:
        return
    batch = state.static_batch
    if batch is not None:
        if not batch.takes_in(state.running):
            return
        batch.open = True  # while it is filled; below it is settled whether it stays so
    opens = is_open(state, builder)
    if opens:
        _admit_each(state, builder, head)
    if batch is None:
        state.nobody_joins = (opens or state.may_shed) and _is_settled(state, builder)
    elif opens or len(state.running) >= state.seats:  # only a spent budget leaves it open
        batch.open = builder.budget_left <= 0 and len(state.running) < state.seats


def _admit_each(state: SchedulerState, builder: PlanBuilder, head: Request | None) -> None:
    """`head` has been asked already whether it shall be rejected."""
    for request in _candidates(state, builder):
        if request in builder.taken_out or (request is not head and shed(state, request)):
            continue
        if not _admit_one(state, builder, request) or not is_open(state, builder):
            break


def _is_settled(state: SchedulerState, builder: PlanBuilder) -> bool:
    """Was this a step of decodes alone? With budget left the next ones will be no better."""
    return (
        state.policy.declares.may_leap_past_waiting
        and not builder.preemptions
        and not builder.grants
        and not state.sheds
        and builder.budget_left > 0
    )


def _candidates(state: SchedulerState, builder: PlanBuilder) -> Iterable[Request]:
    _rekey(state)
    chosen, builder.admitted_by = state.policy.select_admissions(state.view)
    return state.waiting if chosen is None else map(request_of, chosen)


class SlowKeys(UserWarning):
    """Keys that move are asked again of many requests, which takes long."""


MANY = 1000
"""Waiting requests from which on that is told."""


def _rekey(state: SchedulerState) -> None:
    moves = state.policy.moves
    if moves not in KEPT and state.waiting.size >= MANY:
        warnings.warn(
            f"{MANY} requests and more wait, and keys of {' and '.join(_keyed(state))} are asked "
            f'again and again, as priority_moves = "{moves}": a scan takes as long as the queue; '
            'keys that are "static" or "clock" are asked once',
            SlowKeys,
            stacklevel=2,
        )
    if moves == "time":
        state.waiting.rekey()
    elif moves == "event" and state.touched_tenants:
        state.waiting.rekey(state.touched_tenants)
        state.touched_tenants.clear()


def _keyed(state: SchedulerState) -> list[str]:
    return state.policy.hooks["effective_priority"].components


def _admit_one(state: SchedulerState, builder: PlanBuilder, request: Request) -> bool:
    """Admit a waiting request if it fits; False ends admission."""
    offer = offered(state, builder, request)
    if offer is None:
        return False
    if not offer.tokens:
        return True  # by its policy it shall not run now; those behind it may
    # each victim may cost a hit as well
    while not (has_seat(state) and has_room(state, request, offer)):
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
    state.running_views.add(request.view)
    state.alone.append(request)
    builder.join(request, offer.tokens)
    notices.tell(state, "request_admitted", request)
