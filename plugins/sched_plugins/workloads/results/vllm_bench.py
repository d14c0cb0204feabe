"""Results of `vllm bench serve --save-result --save-detailed`: lists with one item per request.

`start_times` are when the client sent each, on a clock of its own; where a limit on concurrency
held a request back, `queue_times` say for how long.
"""

from collections.abc import Iterable, Iterator

import attrs

from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class VllmBench(Trace):
    """Results of vllm bench serve with --save-detailed (JSON). Failed requests are dropped."""

    format = "vllm-bench"
    published = "vllm bench serve --save-result --save-detailed"

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        for run, row in enumerate(rows):
            if run:
                raise row.error("start_times", "the result of one run", "a second run in the file")
            if row.has("max_concurrency"):
                limit = row.text("max_concurrency")
                reading.notes["arrivals"] = f"as sent by a client of max_concurrency {limit}"
            yield from _requests(row)


def _requests(row: Row) -> Iterator[Record | Drop]:
    names = ["start_times", "input_lens", "output_lens"]
    names += [name for name in ("queue_times", "errors") if row.has(name)]
    for part in row.zipped(names):
        if part.has("errors") or part.tokens("output_lens") == 0:
            yield Drop("failed")
            continue
        waited = part.nanoseconds("queue_times") if part.has("queue_times") else 0
        yield Record(
            part.nanoseconds("start_times") - waited,
            part.tokens("input_lens"),
            part.tokens("output_lens"),
        )
