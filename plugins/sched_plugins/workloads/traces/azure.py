"""The Azure LLM inference traces of 2023, 2024 and 2025 (AzurePublicDataset).

`TIMESTAMP,ContextTokens,GeneratedTokens`, the stamp a wall clock of 7 fractional digits without a
zone (2023), or of 6 or none with `+00:00` (2024). Copies that others have made hold numbers since
1970 instead. `NumImages` (2025) is counted in `ContextTokens`.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal

import attrs

from sched_core.tables import Moment, Record, Row, date, since_1970
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class Azure(Trace):
    """Azure LLM inference traces, 2023 to 2025, and copies with numbers for dates (CSV)."""

    format = "azure"
    published = "https://github.com/Azure/AzurePublicDataset, its AzureLLMInferenceTrace files"

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        for row in rows:
            arrival = reading.clock.agreed(row, "TIMESTAMP", _stamp(row))
            yield Record(arrival, row.tokens("ContextTokens"), row.tokens("GeneratedTokens"))
        form = reading.clock.form or ""
        if form.startswith("numbers"):
            reading.notes["stamps"] = f"{form}, told by their size"


def _stamp(row: Row) -> Moment:
    text = str(row.values["TIMESTAMP"]).strip()
    try:
        return since_1970(Decimal(text)) if text.isdigit() else date(text)
    except ValueError:
        raise row.error("TIMESTAMP", "YYYY-MM-DD HH:MM:SS[.fraction][+00:00]") from None
