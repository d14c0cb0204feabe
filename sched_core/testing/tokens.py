"""B: no token is lost, doubled or computed beyond what is known."""

from collections.abc import Iterator

from sched_core.engine import Engine
from sched_core.records import STATES
from sched_core.request import RequestState
from sched_core.testing.observe import RUN_CHECKS, STEP_CHECKS, Observed, Progress, invariant


@invariant("B1 grants fit what is known", STEP_CHECKS)
def grants_fit(seen: Observed) -> Iterator[str]:
    """1 <= granted <= prompt + emitted - computed."""
    for request, tokens in seen.grants.items():
        known = request.prompt_len + seen.before.get(request, Progress()).emitted
        start = seen.after[request].computed - tokens
        if not 1 <= tokens <= known - start:
            yield f"{request.id} was granted {tokens} tokens at {start} of {known}"


@invariant("B2 budget and seats hold", STEP_CHECKS)
def budget_and_seats_hold(seen: Observed) -> Iterator[str]:
    """No more tokens than the budget, no more requests than seats."""
    config, tokens = seen.state.config, sum(seen.grants.values())
    if tokens > config.max_num_batched_tokens:
        yield f"{tokens} tokens > {config.max_num_batched_tokens}"
    if tokens != seen.plan.num_tokens:
        yield f"the plan says {seen.plan.num_tokens} tokens, the grants {tokens}"
    paid = seen.plan.load.new_tokens
    if paid < tokens or (paid > tokens and config.batching != "padded"):
        yield f"the load says {paid} tokens, the grants {tokens}"
    here = len(set(seen.running) | set(seen.finished))
    if here > config.seats:
        yield f"{here} requests ran on {config.seats} seats"


@invariant("B3 progress is lost only by preemption", STEP_CHECKS)
def progress_is_kept(seen: Observed) -> Iterator[str]:
    """`computed` moves by the grant; a recompute drops it, a swap does not."""
    came_back = {*seen.plan.admitted, *seen.plan.resumed}
    swapped = {swap.id for swap in (*seen.plan.swapped_out, *seen.plan.swapped_in)}
    for request, now in seen.after.items():
        old = seen.before.get(request, Progress()).computed
        start = now.computed - seen.grants.get(request, 0)
        if request in seen.plan.preempted and request.id not in swapped:
            if now.computed != 0:
                yield f"{request.id} was preempted and keeps {now.computed} tokens"
        elif request in came_back and request.id not in swapped:
            yield from _cached_start(seen, request.id, start, request.prompt_len + now.emitted)
        elif start != old:
            yield f"{request.id} went from {old} to {now.computed} tokens unaccountably"


def _cached_start(seen: Observed, name: str, start: int, known: int) -> Iterator[str]:
    if start % seen.state.config.block_size or not 0 <= start < known:
        yield f"{name} starts at {start} of {known} tokens"
    if start and not seen.state.config.enable_prefix_caching:
        yield f"{name} starts at {start} without a prefix cache"


@invariant("B4 a token comes when all known ones are computed", STEP_CHECKS)
def tokens_come_when_due(seen: Observed) -> Iterator[str]:
    """`emitted` rises by one exactly when the step ends with computed == prompt + emitted."""
    for request, now in seen.after.items():
        old = seen.before.get(request, Progress()).emitted
        due = request in seen.grants and now.computed == request.prompt_len + old
        if now.emitted != old + due:
            yield f"{request.id} went from {old} to {now.emitted} output tokens, due: {due}"


@invariant("B5 computed tokens add up", RUN_CHECKS)
def tokens_add_up(engine: Engine) -> Iterator[str]:
    """Sum of grants == for each request what it reached, less hits, plus recomputation."""
    columns = engine.recorder.columns()
    if (columns["state"] != STATES.index(RequestState.FINISHED)).any():
        return  # a horizon cut work off; B3 has followed every step
    reached = columns["prompt_len"] + columns["output_tokens"] - 1
    useful = int((reached - columns["cached_tokens"]).sum())
    total = engine.recorder.computed_tokens
    again = int(columns["recomputed_tokens"].sum())
    if total != useful + again:
        yield f"{total} tokens computed, {useful} useful and {again} again"


@invariant("B6 finished means complete", RUN_CHECKS)
def finished_is_complete(engine: Engine) -> Iterator[str]:
    """A finished request emitted exactly its output; everyone else carries a state or reason."""
    columns, specs = engine.recorder.columns(), engine.workload.requests
    for row, state in enumerate(columns["state"]):
        spec = specs[columns["submitted_seq"][row]]
        if STATES[state] is RequestState.FINISHED:
            if columns["output_tokens"][row] != spec.output_len:
                yield f"{spec.id} finished with {columns['output_tokens'][row]} tokens"
        elif STATES[state] is RequestState.REJECTED and columns["reason"][row] < 0:
            yield f"{spec.id} was rejected without a reason"
