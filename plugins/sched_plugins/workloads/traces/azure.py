"""The Azure LLM inference traces of 2023 and 2024 (AzurePublicDataset).

`TIMESTAMP,ContextTokens,GeneratedTokens`, the stamp a wall clock of 7 fractional digits without a
zone (2023), or of 6 or none with `+00:00` (2024).
"""

import re
from datetime import UTC, datetime, timedelta

import attrs

from sched_plugins.workloads.traces.rows import Row
from sched_plugins.workloads.traces.trace import NANOSECONDS, Record, Trace

_STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@attrs.frozen(kw_only=True)
class Azure(Trace):
    """Azure LLM inference traces, 2023 and 2024 (CSV)."""

    format = "azure"

    def record(self, row: Row) -> Record:
        return Record(_stamp(row), row.tokens("ContextTokens"), row.tokens("GeneratedTokens"))


def _stamp(row: Row) -> int:
    """Nanoseconds since 1970, every digit of the fraction kept; no zone means UTC.

    Not with `strptime`, which refuses a seventh digit, nor `fromisoformat`, which drops it.
    """
    try:
        return parse_stamp(str(row.values["TIMESTAMP"]).strip())
    except ValueError:
        raise row.error("TIMESTAMP", "YYYY-MM-DD HH:MM:SS[.fraction][+00:00]") from None


def parse_stamp(text: str) -> int:
    """Nanoseconds since 1970; raises ValueError for any other text than a stamp."""
    match = _STAMP.fullmatch(text)
    if not match:
        raise ValueError(text)
    clock, fraction, zone = match.groups()
    moment = datetime.fromisoformat(clock + (zone or "+00:00"))
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    return seconds * NANOSECONDS + int((fraction or "").ljust(9, "0"))
