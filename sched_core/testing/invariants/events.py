"""H5: what observers are told."""

from collections.abc import Iterator

from sched_core.metrics.summary import request_records
from sched_core.testing.invariants.observe import Ended
from sched_core.testing.invariants.registry import invariant


@invariant("H5 every event is told once", "end")
def every_event_is_told_once(run: Ended) -> Iterator[str]:
    """Start and end of each request once, and each admission, preemption and token."""
    told, computed = run.told, 0
    for record in request_records(run.engine.recorder):
        name, state = record["id"], record["state"]
        losses = record["preemptions"]
        admissions = told["request_admitted", name]
        right = {
            "request_arrived": state != "pending",
            "request_finished": state in ("finished", "rejected", "aborted"),
            "request_preempted": losses,
            "request_admitted": min(max(admissions, losses), losses + 1),
        }
        for event, times in right.items():
            if told[event, name] != times:
                yield f"{event} of {name} was told {told[event, name]} times, not {int(times)}"
        if state == "finished" and admissions != losses + 1:
            yield f"{name} was admitted {admissions} times and lost its place {losses} times"
        computed += told["tokens_computed", name]
    if computed != run.granted:
        yield f"{computed} tokens were told of {run.granted}"
