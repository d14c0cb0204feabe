"""E: nobody is lost, and everyone gets on."""

from collections.abc import Iterator

from sched_core.config import EngineConfig
from sched_core.metrics.latency import in_state
from sched_core.metrics.recorder import STATES
from sched_core.request import RequestState
from sched_core.testing.invariants.observe import Ended, Observed
from sched_core.testing.invariants.order import age
from sched_core.testing.invariants.registry import invariant
from sched_core.workload.spec import RequestSpec


@invariant("E1 nobody is lost", "step")
def nobody_is_lost(seen: Observed) -> Iterator[str]:
    """submitted == finished + rejected + aborted + running + waiting + swapped + pending."""
    counts = seen.engine.counts()
    if counts["submitted"] != sum(n for name, n in counts.items() if name != "submitted"):
        yield f"the counts do not add up: {counts}"


@invariant("E1 everyone is accounted for", "end")
def everyone_is_accounted_for(run: Ended) -> Iterator[str]:
    """The records hold every submitted request exactly once."""
    rows = run.columns["submitted_seq"]
    if list(rows) != list(range(len(run.engine.workload.requests))):
        yield f"{len(rows)} records for {len(run.engine.workload.requests)} requests"


@invariant("E2 what can never fit is refused at once", "end")
def hopeless_is_refused(run: Ended) -> Iterator[str]:
    """Rejected are exactly those that could not be served alone, and when they arrive; a policy
    may turn away others too."""
    sheds = "reject_request" in run.engine.state.policy.uses
    columns, config = run.columns, run.engine.state.config
    for row, spec in enumerate(run.engine.workload.requests):
        state = STATES[columns["state"][row]]
        if state is RequestState.PENDING:
            continue
        hopeless = not _fits_alone(spec, config)
        if (state is RequestState.REJECTED) != hopeless and (hopeless or not sheds):
            yield f"{spec.id} is {state.value}"
        if state is RequestState.REJECTED and hopeless:
            waited = columns["finish_ns"][row] - columns["arrival_ns"][row]
            if waited:
                yield f"{spec.id} was rejected {waited} ns after it came"


@invariant("E2 who has run is not turned away", "end")
def who_has_run_is_not_turned_away(run: Ended) -> Iterator[str]:
    """A rejected request never had a place; what a client has begun to read is not taken back."""
    rejected = in_state(run.columns, RequestState.REJECTED).tolist()
    for spec, was_rejected in zip(run.engine.workload.requests, rejected, strict=True):
        if was_rejected and run.told["request_admitted", spec.id]:
            yield f"{spec.id} was admitted, and rejected afterwards"


def _fits_alone(spec: RequestSpec, config: EngineConfig) -> bool:
    whole = spec.prompt_len + spec.output_len - 1  # the last token is never computed
    limits = [(config.num_gpu_blocks or 0) * config.block_size]
    if config.max_model_len is not None:
        limits.append(config.max_model_len - 1)
    if not config.enable_chunked_prefill:
        limits.append(config.max_num_batched_tokens)
    return min(spec.prompt_len, spec.output_len) >= 1 and whole <= min(limits)


@invariant("E3 the oldest always moves", "step", fcfs=True)
def oldest_moves(seen: Observed) -> Iterator[str]:
    """The oldest request alive is granted at least one token in every step."""
    alive = [*seen.running, *seen.waiting, *seen.finished]
    if alive and (oldest := min(alive, key=age)) not in seen.grants:
        yield f"{oldest.id} is the oldest and was granted nothing"


@invariant("E4 steps are bounded by work", "end", fcfs=True)
def steps_are_bounded(run: Ended) -> Iterator[str]:
    """No more steps than prompt + output - 1 tokens of all finished requests."""
    work = int((run.finished["prompt_len"] + run.finished["output_tokens"] - 1).sum())
    if run.complete and run.engine.recorder.steps > work:
        yield f"{run.engine.recorder.steps} steps for {work} tokens"


@invariant("E5 a loss serves somebody older", "step", fcfs=True)
def losses_serve_elders(seen: Observed) -> Iterator[str]:
    """If a request loses progress in a step, an older one gained in that step."""
    for victim in seen.preempted:
        if not any(age(request) < age(victim) for request in seen.grants):
            yield f"{victim.id} was preempted and nobody older was granted anything"


@invariant("E9 the oldest keeps its place", "step", fcfs=True)
def oldest_keeps_its_place(seen: Observed) -> Iterator[str]:
    """The oldest request alive is never preempted."""
    alive = [*seen.running, *seen.waiting, *seen.finished]
    if alive and (oldest := min(alive, key=age)) in seen.preempted:
        yield f"{oldest.id} is the oldest and was preempted"
