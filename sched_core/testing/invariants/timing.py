"""F1 to F4: the clock, and when things happened to a request."""

from collections.abc import Iterator

from sched_core.metrics.summary import request_records
from sched_core.testing.invariants.observe import Ended, Observed
from sched_core.testing.invariants.registry import invariant

MILESTONES = ("arrival", "first_scheduled", "first_token", "finish")


@invariant("F1 the clock moves forward", "step")
def clock_moves(seen: Observed) -> Iterator[str]:
    """No step starts before the last one ended; one that computes or copies takes time."""
    took = seen.state.now_ns - seen.plan.time_ns
    if took < 0 or (any(seen.plan.load) and took == 0):
        yield f"it took {took} ns"
    if seen.plan.time_ns < seen.idle_since_ns:
        yield f"it started at {seen.plan.time_ns} ns, before {seen.idle_since_ns} ns"


@invariant("F2 milestones are in order", "end")
def milestones_in_order(run: Ended) -> Iterator[str]:
    """arrival <= first scheduled < first token <= finish; unset ones are None."""
    for record in request_records(run.engine.recorder):
        known = [record[name] for name in MILESTONES if record[name] is not None]
        if known != sorted(known) or known[0] < 0:
            yield f"{record['id']} has milestones {known}"
        if record["ttft"] is not None and not record["ttft"] > (record["queue_time"] or 0.0):
            yield f"{record['id']} has a token before it was scheduled"
        if (record["state"] == "finished") != (record["finish"] is not None):
            yield f"{record['id']} is {record['state']} and finished at {record['finish']}"


@invariant("F3 gaps add up", "end")
def gaps_add_up(run: Ended) -> Iterator[str]:
    """Finished requests' gaps: output - 1 each, together finish - first token."""
    if not run.complete:
        return  # the last gaps have no end yet
    done, (gaps, counts) = run.finished, run.engine.recorder.gap_histogram()
    tokens, spans = done["output_tokens"], done["finish_ns"] - done["first_token_ns"]
    if counts.sum() != (tokens - 1).sum():
        yield f"{counts.sum()} gaps between {tokens.sum()} tokens of {len(tokens)} requests"
    if (gaps * counts).sum() != spans.sum():
        yield f"gaps of {(gaps * counts).sum()} ns in spans of {spans.sum()} ns"


@invariant("F4 waits are told apart", "end")
def waits_are_told_apart(run: Ended) -> Iterator[str]:
    """Queue time ends with the first grant; the time preempted is another, within the rest."""
    done = run.finished
    queued = done["first_scheduled_ns"] - done["arrival_ns"]
    preempted, rest = done["preempted_ns"], done["finish_ns"] - done["first_scheduled_ns"]
    if (queued < 0).any() or (preempted < 0).any() or (preempted > rest).any():
        yield f"queued {queued.tolist()}, preempted {preempted.tolist()} of {rest.tolist()} ns"
    if (preempted[done["preemptions"] == 0] > 0).any():
        yield "a request that was never preempted has preempted time"
    for record in request_records(run.engine.recorder):
        if record["queue_time"] is not None and record["queue_time"] < 0:
            yield f"{record['id']} has queue time {record['queue_time']}"
