"""C: every step plan makes sense in itself."""

from collections.abc import Iterator

from sched_core.request import RequestState
from sched_core.testing.observe import STEP_CHECKS, Observed, invariant


@invariant("C1 granted and preempted are disjoint", STEP_CHECKS)
def granted_or_preempted(seen: Observed) -> Iterator[str]:
    """Nobody is granted twice, preempted twice, or both; who is granted runs or has finished."""
    for what, requests in (("granted", seen.plan.order), ("preempted", seen.plan.preempted)):
        if len(set(requests)) != len(requests):
            yield f"a request is {what} twice"
    if both := set(seen.plan.order) & set(seen.plan.preempted):
        yield f"{sorted(r.id for r in both)} are granted and preempted"
    for request in seen.plan.order:
        if request.state not in (RequestState.RUNNING, RequestState.FINISHED):
            yield f"{request.id} was granted tokens and is {request.state.value}"


@invariant("C2 a victim stays out for the step", STEP_CHECKS)
def victims_stay_out(seen: Observed) -> Iterator[str]:
    """Who is preempted in a step waits after it."""
    for request in seen.plan.preempted:
        if request.state not in (RequestState.WAITING, RequestState.SWAPPED):
            yield f"{request.id} was preempted and is {request.state.value}"


@invariant("C3 everyone is in one place", STEP_CHECKS)
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


@invariant("C4 victims were running", STEP_CHECKS)
def victims_were_running(seen: Observed) -> Iterator[str]:
    """Only who had a place can lose it."""
    for request in seen.plan.preempted:
        if request not in seen.before or request in seen.plan.admitted:
            yield f"{request.id} was preempted before it ever ran"


@invariant("C5 nobody is skipped silently", STEP_CHECKS)
def nobody_is_skipped(seen: Observed) -> Iterator[str]:
    """Who runs and got nothing was left out by a policy, or the budget was used up."""
    policy, config = seen.state.policy, seen.state.config
    choices = ("chunk_size", "order_running", "select_victim", "step_budget")
    if any(policy.hooks[hook] for hook in choices) or not config.enable_chunked_prefill:
        return
    if seen.plan.num_tokens == config.max_num_batched_tokens or config.batching != "continuous":
        return
    for request in seen.running:
        if request not in seen.grants:
            yield f"{request.id} runs and got nothing; {seen.plan.num_tokens} tokens were used"


@invariant("C6 an idle engine takes the head", STEP_CHECKS)
def work_conserving(seen: Observed) -> Iterator[str]:
    """With nothing running before and somebody waiting, something is granted."""
    choices = ("chunk_size", "select_admissions", "can_admit", "reserve_blocks")
    if any(seen.state.policy.hooks[hook] for hook in choices) or seen.plan.preempted:
        return
    if not seen.grants and (seen.waiting or seen.running):
        yield "nothing was granted"
