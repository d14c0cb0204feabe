"""Traces as Vidur replays them: `arrived_at,num_prefill_tokens,num_decode_tokens`, seconds."""

import attrs

from sched_plugins.workloads.traces.rows import Row
from sched_plugins.workloads.traces.trace import Record, Trace


@attrs.frozen(kw_only=True)
class Vidur(Trace):
    """Vidur's processed traces (CSV); arrivals are not floored to seconds as there."""

    format = "vidur"

    def record(self, row: Row) -> Record:
        return Record(
            row.nanoseconds("arrived_at"),
            row.tokens("num_prefill_tokens"),
            row.tokens("num_decode_tokens"),
        )
