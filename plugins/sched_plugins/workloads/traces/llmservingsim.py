"""LLMServingSim's workload files: JSON lines with nanoseconds."""

from collections.abc import Iterable, Iterator

import attrs

from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class LLMServingSim(Trace):
    """LLMServingSim's flat workload files (JSON lines): ns. Token ids are not compared."""

    format = "llmservingsim"
    published = "https://github.com/casys-kaist/LLMServingSim, workloads"

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        for row in rows:
            if row.has("input_tok_ids"):
                reading.notes["not_read"] = "input_tok_ids: no prompt shares a prefix"
            yield Record(
                row.moment("arrival_time_ns", "ns").ns,
                row.tokens("input_toks"),
                row.tokens("output_toks"),
            )
