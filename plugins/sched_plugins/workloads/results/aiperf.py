"""AIPerf's records (`profile_export.jsonl`): one object per request, with metadata and metrics."""

from collections.abc import Iterable, Iterator

import attrs

from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class AIPerf(Trace):
    """AIPerf's records of a run (JSON lines). Warm-up and failed requests are dropped."""

    format = "aiperf"
    published = "https://github.com/ai-dynamo/aiperf, profile_export.jsonl"

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        reading.notes["arrivals"] = "as sent by the client"
        return map(_record, rows)


def _record(row: Row) -> Record | Drop:
    metadata, metrics = row.part("metadata"), row.part("metrics")
    if metadata.has("benchmark_phase") and metadata.text("benchmark_phase") == "warmup":
        return Drop("warm-up")
    if row.values.get("error") is not None:
        return Drop("failed")
    return Record(
        metadata.moment("request_start_ns", "ns").ns,
        metrics.part("input_sequence_length").tokens("value"),
        metrics.part("output_sequence_length").tokens("value"),
    )
