"""Who yields when blocks are short, and what becomes of its memory."""

from sched_core.execution.plan import Preemption
from sched_core.limits import NANOSECONDS
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE, SWAP
from sched_core.request import Request, RequestState
from sched_core.scheduler import notices as events
from sched_core.scheduler.plan_builder import Batch
from sched_core.scheduler.state import SchedulerState


def victim_for(state: SchedulerState, beneficiary: Request) -> Request | None:
    """Who gives up its blocks for `beneficiary`; None is nobody.

    By default nobody does for a waiting request, as in vLLM.
    """
    answer: Request | None = None
    if "select_victim" in state.policy.uses:
        choice = state.policy.select_victim(state.view, beneficiary.view)
        if choice is NO_VICTIM:
            return None
        answer = choice
    if answer is None and beneficiary.state is RequestState.RUNNING:
        answer = last_in_order(state)
    return answer


def last_in_order(state: SchedulerState) -> Request:
    """The running request with the worst effective priority, then the latest arrival.

    Under strict first come, first served that is the last one admitted, as in vLLM.
    """
    policy, now = state.policy, state.now_ns / NANOSECONDS
    if policy.moves != "static":
        for request in state.running:
            key = policy.effective_priority(request.view, now)
            request.sort_key = (key, *request.sort_key[1:])
    return max(state.running, key=lambda request: request.sort_key)


def preempt(state: SchedulerState, batch: Batch, victim: Request, beneficiary: Request) -> None:
    """Take a running request's place and memory; what it was granted in this step returns."""
    policy, mode = state.policy, RECOMPUTE
    batch.withdraw(victim)
    if "choose_preempt_mode" in policy.uses:
        mode = policy.choose_preempt_mode(state.view, victim.view)
    swap = state.kv.swap_out(victim) if mode is SWAP else None
    if swap is None:
        mode = RECOMPUTE
        state.kv.release(victim)
        victim.computed = 0
    state.running.remove(victim)
    victim.state = RequestState.WAITING if swap is None else RequestState.SWAPPED
    victim.preemptions += 1
    victim.preempted_step = state.step
    victim.preempted_since_ns = state.now_ns
    deciders = policy.decider("select_victim"), policy.decider("choose_preempt_mode")
    batch.preempt(Preemption(victim, beneficiary, mode, *deciders), swap)
    state.waiting.add(victim)
    events.tell(state, "request_preempted", victim, mode)
