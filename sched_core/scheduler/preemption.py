"""Who yields when blocks are short, and what becomes of its memory."""

from sched_core.execution.plan import Preemption
from sched_core.limits import NANOSECONDS
from sched_core.policy.declarations import KEPT
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE, SWAP
from sched_core.request import Request, RequestState
from sched_core.scheduler import notices
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import request_of


def preempt_for(
    state: SchedulerState, builder: PlanBuilder, beneficiary: Request
) -> Request | None:
    """Let somebody yield to `beneficiary`; returns who did, None if nobody does.

    By default nobody does for a waiting request, as in vLLM.
    """
    waits = beneficiary.state is not RequestState.RUNNING
    if waits and not state.policy.declares.yields_to_waiting:
        return None
    state.beneficiary = beneficiary
    answer, chosen_by = state.policy.select_victim(state.view, beneficiary.view)
    state.beneficiary = None
    if answer is NO_VICTIM:
        return None
    if answer is not None:
        victim = request_of(answer)
    elif waits:
        return None
    else:
        victim = last_in_order(state)
    _preempt(state, builder, victim, beneficiary, chosen_by)
    return victim


def take_out(state: SchedulerState, builder: PlanBuilder) -> None:
    """Let those go whom the policy names at the start of a step, for nobody in particular."""
    named, chosen_by = state.policy.select_preemptions(state.view)
    for view in named:
        victim = request_of(view)
        builder.taken_out.add(victim)
        _preempt(state, builder, victim, None, chosen_by)


def last_in_order(state: SchedulerState) -> Request:
    """The running request with the worst effective priority, then the latest arrival.

    Under strict first come, first served that is the last one admitted, as in vLLM.
    """
    policy, now = state.policy, state.now_ns / NANOSECONDS
    if policy.moves not in KEPT:
        for request in state.running:
            key = policy.effective_priority(request.view, now)
            request.sort_key = (key, *request.sort_key[1:])
    return max(state.running, key=lambda request: request.sort_key)


def _preempt(
    state: SchedulerState,
    builder: PlanBuilder,
    victim: Request,
    beneficiary: Request | None,
    chosen_by: str,
) -> None:
    """Take a running request's place and memory; what it was granted in this step returns."""
    builder.withdraw(victim)
    mode, mode_by = state.policy.choose_preempt_mode(state.view, victim.view)
    swap = state.kv.swap_out(victim) if mode is SWAP else None
    if swap is None:
        mode = RECOMPUTE
        state.kv.release(victim)
        victim.computed = 0
    state.running.remove(victim)
    state.running_views.discard(victim.view)
    victim.state = RequestState.WAITING if swap is None else RequestState.SWAPPED
    victim.preemptions += 1
    victim.preempted_step = state.step
    victim.preempted_since_ns = state.now_ns
    gains = None if beneficiary is None else beneficiary.id
    builder.preempt(Preemption(victim.id, gains, mode, chosen_by, mode_by), swap)
    notices.tell(state, "request_preempted", victim, mode)
    state.waiting.add(victim)  # its key is asked when observers know
