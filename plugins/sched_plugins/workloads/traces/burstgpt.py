"""BurstGPT (HPMLL): requests to ChatGPT and GPT-4 by the users of one campus.

Columns are read by name: release 3 puts two more in front of the lengths. `Timestamp` is seconds,
whole in release 1 (with ties) and not from 0 in release 3.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

import attrs

from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class BurstGPT(Trace):
    """BurstGPT, releases 1 to 3 (CSV). Failed rows are dropped and counted."""

    format = "burstgpt"
    published = "https://github.com/HPMLL/BurstGPT"

    api_logs: Literal["keep", "drop"] = "keep"
    """Rows of the programming interface, which came in bursts, beside those of the chat window."""

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        return map(self._record, rows)

    def _record(self, row: Row) -> Record | Drop:
        arrival = row.nanoseconds("Timestamp")
        prompt, output = row.tokens("Request tokens"), row.tokens("Response tokens")
        if prompt == output == 0:
            return Drop("failed (0 tokens)")
        if output == 0:
            return Drop("no output tokens")
        if prompt == 0:
            return Drop("no prompt tokens")
        if self.api_logs == "drop" and row.text("Log Type") == "API log":
            return Drop("API log")
        return Record(arrival, prompt, output)
