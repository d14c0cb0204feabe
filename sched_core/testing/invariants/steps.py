"""C: every step plan makes sense in itself."""

from collections.abc import Iterator

from sched_core.request import RequestState
from sched_core.testing.invariants.observe import Observed, Progress
from sched_core.testing.invariants.registry import invariant


@invariant("C1 granted and preempted are disjoint", "step")
def granted_or_preempted(seen: Observed) -> Iterator[str]:
    """Nobody is granted twice, preempted twice, or both; who is granted runs or has finished."""
    for what, requests in (("granted", seen.order), ("preempted", seen.preempted)):
        if len(set(requests)) != len(requests):
            yield f"a request is {what} twice"
    if both := set(seen.order) & set(seen.preempted):
        yield f"{sorted(r.id for r in both)} are granted and preempted"
    for request in seen.order:
        if request.state not in (RequestState.RUNNING, RequestState.FINISHED):
            yield f"{request.id} was granted tokens and is {request.state.value}"


@invariant("C2 a victim stays out for the step", "step")
def victims_stay_out(seen: Observed) -> Iterator[str]:
    """Who is preempted in a step waits after it."""
    for request in seen.preempted:
        if request.state not in (RequestState.WAITING, RequestState.SWAPPED):
            yield f"{request.id} was preempted and is {request.state.value}"


@invariant("C3 everyone is in one place", "step")
def one_place(seen: Observed) -> Iterator[str]:
    """Running, waiting and finished do not overlap, and states say where a request is."""
    places = [set(seen.running), set(seen.waiting), set(seen.finished)]
    if len(set.union(*places)) != sum(map(len, places)):
        yield "a request is in two places"
    for request in seen.running:
        if request.state is not RequestState.RUNNING:
            yield f"{request.id} runs and is {request.state.value}"
    for request in seen.waiting:
        right = RequestState.SWAPPED if request.host_blocks else RequestState.WAITING
        if request.state is not right:
            yield f"{request.id} waits and is {request.state.value}, not {right.value}"


@invariant("C4 victims were running", "step")
def victims_were_running(seen: Observed) -> Iterator[str]:
    """Only who had a place before the step can lose it, to somebody who is in the system."""
    for victim, beneficiary, _ in seen.yielded:
        if not seen.before.get(victim, Progress()).running:
            yield f"{victim.id} was preempted and was not running"
        if beneficiary is None:
            if not seen.uses("select_preemptions"):
                yield f"{victim.id} was preempted for nobody"
        elif beneficiary not in seen.after:
            yield f"{victim.id} was preempted for {beneficiary.id}, which is not there"


@invariant("C5 nobody is skipped silently", "step")
def nobody_is_skipped(seen: Observed) -> Iterator[str]:
    """Who runs and got nothing was left out by a policy, or the budget was used up."""
    config = seen.state.config
    if seen.uses("chunk_size", "order_running", "select_victim", "step_budget"):
        return
    if not config.enable_chunked_prefill or config.batching != "continuous":
        return
    if seen.plan.total_num_scheduled_tokens == config.max_num_batched_tokens:
        return
    for request in seen.running:
        if request not in seen.grants:
            used = seen.plan.total_num_scheduled_tokens
            yield f"{request.id} runs and got nothing; {used} tokens were used"


@invariant("C6 nobody waits for an idle engine", "step")
def work_conserving(seen: Observed) -> Iterator[str]:
    """No time passed before this step in which somebody was there and nothing was done."""
    choices = ("chunk_size", "select_admissions", "can_admit", "reserve_blocks", "step_budget")
    if seen.uses(*choices, "order_running", "select_victim"):
        return
    if seen.plan.time_ns > seen.idle_since_ns:
        for request in seen.after:
            if request.arrival_ns < seen.plan.time_ns:
                yield f"{request.id} was there while the engine did nothing"
