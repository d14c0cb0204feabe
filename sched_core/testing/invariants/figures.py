"""F5 to F7: what a run comes to."""

import json
import math
from collections.abc import Iterator
from typing import Any

from sched_core.metrics.summary import request_records, summarize
from sched_core.testing.invariants.observe import Ended
from sched_core.testing.invariants.registry import invariant

LATENCIES = ("ttft", "tpot", "itl", "e2el", "queue_time")
ORDER = ("p50", "p90", "p99", "max")


def _summary(run: Ended) -> dict[str, Any]:
    return summarize(run.engine.recorder, num_blocks=run.engine.state.kv.num_blocks)


@invariant("F5 work is counted once", "end")
def work_is_counted_once(run: Ended) -> Iterator[str]:
    """Computed tokens and copied blocks are the plans'; an output token counts once."""
    summary, done = _summary(run), run.finished
    if summary["computed_tokens"] != run.granted:
        yield f"{summary['computed_tokens']} tokens computed, the plans say {run.granted}"
    if summary["swapped_blocks"] != run.copied:
        yield f"{summary['swapped_blocks']} blocks copied, the plans say {run.copied}"
    if summary["recomputed_tokens"] > summary["computed_tokens"]:
        yield f"{summary['recomputed_tokens']} of {summary['computed_tokens']} tokens recomputed"
    output, makespan = int(done["output_tokens"].sum()), summary["makespan"]
    if makespan and not math.isclose(summary["output_throughput"] * makespan, output):
        yield f"{summary['output_throughput']} tokens/s in {makespan} s are not {output}"


@invariant("F6 figures are of finished requests", "end")
def figures_are_of_the_finished(run: Ended) -> Iterator[str]:
    """Counts stand beside the statistics; what is not defined is null, never NaN."""
    summary, finished = _summary(run), len(run.finished["state"])
    states = ("finished", "rejected", "aborted", "unfinished")
    if summary["finished"] != finished or summary["submitted"] != sum(summary[s] for s in states):
        yield f"{ {state: summary[state] for state in states} } of {summary['submitted']}"
    for name in ("ttft", "e2el", "queue_time"):
        if summary[name]["count"] != finished:
            yield f"{name} is of {summary[name]['count']} requests, {finished} finished"
    for name in LATENCIES:
        if (summary[name]["count"] == 0) != (summary[name]["mean"] is None):
            yield f"{name} of {summary[name]['count']} values is {summary[name]['mean']}"
    try:
        json.dumps([summary, request_records(run.engine.recorder)], allow_nan=False)
    except ValueError as error:
        yield f"the results are not JSON: {error}"


@invariant("F7 percentiles rise", "end")
def percentiles_rise(run: Ended) -> Iterator[str]:
    """Each lies between 0 and the maximum, and none is below a smaller one's."""
    summary = _summary(run)
    for name in LATENCIES:
        values = [summary[name][key] for key in ORDER if summary[name][key] is not None]
        if values != sorted(values) or (values and values[0] < 0):
            yield f"{name} has {dict(zip(ORDER, values, strict=False))}"
        mean = summary[name]["mean"]
        if mean is not None and not 0 <= mean <= values[-1] * (1 + 1e-9):
            yield f"{name} has mean {mean} and maximum {values[-1]}"
