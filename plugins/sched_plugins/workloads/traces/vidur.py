"""Traces as Vidur replays them: `arrived_at,num_prefill_tokens,num_decode_tokens`, seconds."""

from collections.abc import Iterable, Iterator

import attrs

from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class Vidur(Trace):
    """Vidur's processed traces (CSV); arrivals are not floored to seconds as there."""

    format = "vidur"
    published = "https://github.com/microsoft/vidur, data/processed_traces"

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        for row in rows:
            yield Record(
                row.nanoseconds("arrived_at"),
                row.tokens("num_prefill_tokens"),
                row.tokens("num_decode_tokens"),
            )
