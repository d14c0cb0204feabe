"""D and E under first come, first served: order is kept and the oldest always moves."""

from collections.abc import Iterator
from itertools import pairwise

from sched_core.engine import Engine
from sched_core.records import STATES
from sched_core.request import Request, RequestState
from sched_core.testing.observe import (
    FCFS_CHECKS,
    RUN_CHECKS,
    STEP_CHECKS,
    Observed,
    invariant,
)


def age(request: Request) -> tuple[int, int]:
    """Sorts by arrival, then submission."""
    return request.arrival_ns, request.submitted_seq


@invariant("D2 running is in order of arrival", FCFS_CHECKS)
def running_in_order(seen: Observed) -> Iterator[str]:
    """Also after recomputed and swapped victims came back."""
    for elder, younger in pairwise(seen.running):
        if age(elder) > age(younger):
            yield f"{elder.id} runs before {younger.id}, which arrived earlier"


@invariant("D1 nobody is by-passed", FCFS_CHECKS)
def nobody_is_by_passed(seen: Observed) -> Iterator[str]:
    """Everyone running arrived before everyone waiting."""
    if seen.running and seen.waiting:
        youngest, head = max(seen.running, key=age), min(seen.waiting, key=age)
        if age(youngest) > age(head):
            yield f"{youngest.id} runs while {head.id}, which arrived earlier, waits"


@invariant("E3 the oldest always moves", FCFS_CHECKS)
def oldest_moves(seen: Observed) -> Iterator[str]:
    """The oldest request alive is granted at least one token in every step."""
    alive = [*seen.running, *seen.waiting, *seen.finished]
    if alive and (oldest := min(alive, key=age)) not in seen.grants:
        yield f"{oldest.id} is the oldest and was granted nothing"


@invariant("E5 a loss serves somebody older", FCFS_CHECKS)
def losses_serve_elders(seen: Observed) -> Iterator[str]:
    """If a request loses progress in a step, an older one gained in that step."""
    for victim in seen.plan.preempted:
        if not any(age(request) < age(victim) for request in seen.grants):
            yield f"{victim.id} was preempted and nobody older was granted anything"


@invariant("E1 nobody is lost", STEP_CHECKS)
def nobody_is_lost(seen: Observed) -> Iterator[str]:
    """submitted == finished + rejected + aborted + running + waiting + swapped + pending."""
    counts = seen.engine.counts()
    if counts["submitted"] != sum(n for name, n in counts.items() if name != "submitted"):
        yield f"the counts do not add up: {counts}"


@invariant("E1 everyone is accounted for", RUN_CHECKS)
def everyone_is_accounted_for(engine: Engine) -> Iterator[str]:
    """The records hold every submitted request exactly once."""
    rows = engine.recorder.columns()["submitted_seq"]
    if list(rows) != list(range(len(engine.workload.requests))):
        yield f"{len(rows)} records for {len(engine.workload.requests)} requests"


@invariant("F1 the clock moves forward", STEP_CHECKS)
def clock_moves(seen: Observed) -> Iterator[str]:
    """A step that computes or copies something takes time."""
    took = seen.state.now_ns - seen.plan.time_ns
    if took < 0 or (any(seen.plan.load) and took == 0):
        yield f"a step took {took} ns"


@invariant("F2 milestones are in order", RUN_CHECKS)
def milestones_in_order(engine: Engine) -> Iterator[str]:
    """arrival <= first scheduled < first token <= finish; unset ones are absent."""
    columns = engine.recorder.columns()
    names = ("arrival_ns", "first_scheduled_ns", "first_token_ns", "finish_ns")
    for row in range(len(columns["state"])):
        stamps = [int(columns[name][row]) for name in names]
        if STATES[columns["state"][row]] is RequestState.FINISHED:
            arrival, scheduled, token, finish = stamps
            if not 0 <= arrival <= scheduled < token <= finish:
                yield f"record {row} has milestones {stamps}"
            if columns["preempted_ns"][row] > finish - scheduled:
                yield f"record {row} was preempted longer than it was there"


@invariant("F3 gaps add up", RUN_CHECKS)
def gaps_add_up(engine: Engine) -> Iterator[str]:
    """Finished requests' gaps: output - 1 each, together finish - first token."""
    columns = engine.recorder.columns()
    if (columns["state"] == STATES.index(RequestState.REJECTED)).any():
        done = columns["state"] == STATES.index(RequestState.FINISHED)
    else:
        done = columns["output_tokens"] > 0
    if (columns["state"][done] != STATES.index(RequestState.FINISHED)).any():
        return  # cut off by a horizon: the last gaps have no end yet
    gaps, counts = engine.recorder.gap_histogram()
    if int(counts.sum()) != int((columns["output_tokens"][done] - 1).sum()):
        yield f"{int(counts.sum())} gaps for {int(columns['output_tokens'][done].sum())} tokens"
    spans = columns["finish_ns"][done] - columns["first_token_ns"][done]
    if int((gaps * counts).sum()) != int(spans.sum()):
        yield f"gaps of {int((gaps * counts).sum())} ns in spans of {int(spans.sum())} ns"
