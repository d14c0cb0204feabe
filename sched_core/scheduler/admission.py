"""The second half of a step: waiting requests join the batch, one by one."""

from collections.abc import Iterable

from sched_core.request import Request, RequestState
from sched_core.scheduler import notices as events
from sched_core.scheduler import preemption
from sched_core.scheduler.plan_builder import Batch
from sched_core.scheduler.state import SchedulerState


def admit(state: SchedulerState, batch: Batch) -> None:
    """Let requests join, in order, until one does not fit."""
    if state.static and not state.forming and (state.running or state.held):
        return
    if state.budget_left <= 0 or len(state.running) >= state.seats:
        state.forming &= len(state.running) < state.seats
        return
    for request in _candidates(state):
        if not _admit_one(state, batch, request):
            break
        if state.budget_left <= 0 or len(state.running) >= state.seats:
            break
    # only a spent budget leaves a static batch open for the next step
    state.forming = state.static and state.budget_left <= 0 < state.seats - len(state.running)


def _candidates(state: SchedulerState) -> Iterable[Request]:
    _rekey(state)
    chosen: Iterable[Request] | None = None
    if "select_admissions" in state.policy.uses:
        chosen = state.policy.select_admissions(state.view)
    return state.waiting if chosen is None else chosen


def _rekey(state: SchedulerState) -> None:
    moves = state.policy.moves
    if moves == "time":
        state.waiting.rekey()
    elif moves == "event" and state.restless:
        state.waiting.rekey(state.restless)
    state.restless.clear()


def _admit_one(state: SchedulerState, batch: Batch, request: Request) -> bool:
    """Admit a waiting request if it fits; False ends admission."""
    if request.preempted_step == state.step:
        return False
    hits = state.kv.hits(request)
    start = state.kv.start_of(request, hits)
    if not state.limit(request, start) or not state.policy.can_admit(state.view, request.view):
        return False
    tokens = state.chunk(request, start)
    if not tokens:
        return True  # by its policy it shall not run now; those behind it may
    while not state.has_room(request, start + tokens, hits):
        victim = preemption.victim_for(state, request)
        if victim is None:
            return False
        preemption.preempt(state, batch, victim, request)
        hits = state.kv.hits(request)  # fewer, if the victim was to compute one of them
        start = state.kv.start_of(request, hits)
    _join(state, batch, request, tokens, hits)
    return True


def _join(
    state: SchedulerState, batch: Batch, request: Request, tokens: int, hits: list[int]
) -> None:
    state.waiting.remove(request)
    if request.state is RequestState.SWAPPED:
        batch.swap_in(state.kv.swap_in(request, request.computed + tokens))
    else:
        request.start_at(state.kv.start_of(request, hits))
        state.kv.admit(request, hits, request.computed + tokens)
    request.state = RequestState.RUNNING
    request.admitted_seq = state.admissions
    state.admissions += 1
    state.running.append(request)
    state.stragglers.append(request)
    state.joined[request] = None
    batch.join(request, tokens)
    events.tell(state, "request_admitted", request)
