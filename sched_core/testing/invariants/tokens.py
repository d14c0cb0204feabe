"""B: no token is lost, doubled or computed beyond what is known."""

from collections.abc import Iterator

from sched_core.metrics.recorder import STATES
from sched_core.request import RequestState
from sched_core.testing.invariants.observe import Ended, Observed, Progress
from sched_core.testing.invariants.registry import invariant


@invariant("B1 grants fit what is known", "step")
def grants_fit(seen: Observed) -> Iterator[str]:
    """1 <= granted <= prompt + emitted - computed."""
    for request, tokens in seen.grants.items():
        known = request.prompt_len + seen.before.get(request, Progress()).emitted
        start = seen.after[request].computed - tokens
        if not 1 <= tokens <= known - start:
            yield f"{request.id} was granted {tokens} tokens at {start} of {known}"


@invariant("B2 budget and seats hold", "step")
def budget_and_seats_hold(seen: Observed) -> Iterator[str]:
    """No more tokens than the budget, no more requests than seats."""
    config, tokens = seen.state.config, sum(seen.grants.values())
    if tokens > config.max_num_batched_tokens:
        yield f"{tokens} tokens > {config.max_num_batched_tokens}"
    if tokens != seen.plan.total_num_scheduled_tokens:
        yield f"the plan says {seen.plan.total_num_scheduled_tokens} tokens, the grants {tokens}"
    paid = seen.plan.load.new_tokens
    if paid < tokens or (paid > tokens and config.batching != "padded"):
        yield f"the load says {paid} tokens, the grants {tokens}"
    here = len(set(seen.running) | set(seen.finished))
    if here > config.seats:
        yield f"{here} requests ran on {config.seats} seats"


@invariant("B3 progress is lost only by preemption", "step")
def progress_is_kept(seen: Observed) -> Iterator[str]:
    """`computed` moves by the grant; a recompute drops it, a swap does not."""
    came_back = set(seen.joined)
    swapped = {swap.id for swap in (*seen.plan.swapped_out, *seen.plan.swapped_in)}
    for request, now in seen.after.items():
        old = seen.before.get(request, Progress()).computed
        start = now.computed - seen.grants.get(request, 0)
        if request in seen.preempted and request.id not in swapped:
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


@invariant("B4 a token comes when all known ones are computed", "step")
def tokens_come_when_due(seen: Observed) -> Iterator[str]:
    """`emitted` rises by one exactly when the step ends with computed == prompt + emitted."""
    for request, now in seen.after.items():
        old = seen.before.get(request, Progress()).emitted
        due = request in seen.grants and now.computed == request.prompt_len + old
        if now.emitted != old + due:
            yield f"{request.id} went from {old} to {now.emitted} output tokens, due: {due}"


@invariant("B5 computed tokens add up", "end")
def tokens_add_up(run: Ended) -> Iterator[str]:
    """Sum of grants == for each request what it reached, less hits, plus recomputation."""
    if not run.complete:
        return  # B3 has followed every step
    done = run.finished
    useful = int((done["prompt_len"] + done["output_tokens"] - 1 - done["cached_tokens"]).sum())
    again = int(done["recomputed_tokens"].sum())
    if run.granted != useful + again:
        yield f"{run.granted} tokens computed, {useful} useful and {again} again"


@invariant("B6 finished means complete", "end")
def finished_is_complete(run: Ended) -> Iterator[str]:
    """A finished request emitted exactly its output; one that did not finish says why."""
    columns, specs = run.columns, run.engine.workload.requests
    for row, number in enumerate(columns["state"]):
        spec, state = specs[row], STATES[number]
        if state is RequestState.FINISHED:
            if columns["output_tokens"][row] != spec.output_len:
                yield f"{spec.id} finished with {columns['output_tokens'][row]} tokens"
        elif state in (RequestState.REJECTED, RequestState.ABORTED) and columns["reason"][row] < 0:
            yield f"{spec.id} was {state.value} without a reason"


@invariant("B8 counts are whole numbers", "step")
def counts_are_whole(seen: Observed) -> Iterator[str]:
    """Tokens, blocks and nanoseconds are ints >= 0, whatever a policy answered."""
    state = seen.state
    counts: dict[str, object] = {f"the grant of {r.id}": n for r, n in seen.grants.items()}
    for request, now in seen.after.items():
        counts[f"{request.id}'s computed tokens"] = now.computed
        counts[f"{request.id}'s output tokens"] = now.emitted
    counts |= {
        "the clock": state.now_ns,
        "the budget": seen.engine.instance.scheduler.builder.budget_left,
    }
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            yield f"{name} is {count!r}"
