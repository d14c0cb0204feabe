"""What rows say of requests, and the requests of a workload made from it.

Arrivals are integers of nanoseconds until the very end, so their differences are exact.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sched_core.limits import NANOSECONDS
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix


class Record(NamedTuple):
    """What a row says of one request."""

    arrival_ns: int
    prompt_len: int
    output_len: int
    priority: int = 0
    tenant: str = "default"
    prefix: SharedPrefix | HashedPrefix | None = None
    id: str | None = None
    """None: r0, r1, ... in order of arrival."""
    abort_ns: int | None = None
    """On the clock of `arrival_ns`."""


def order_note(records: Sequence[Record]) -> dict[str, str]:
    """What the setting says where rows stood behind a later one; nothing where none did."""
    behind, latest = 0, 0
    for record in records:
        behind += record.arrival_ns < latest
        latest = max(latest, record.arrival_ns)
    told = f"sorted by arrival: {behind} rows stood behind a later one"
    return {"order": told} if behind else {}


def in_order(records: Sequence[Record]) -> list[Record]:
    """The records by arrival, equal ones as they stood."""
    return sorted(records, key=lambda record: record.arrival_ns)


def requests(records: Sequence[Record], time_scale: float = 1.0) -> list[RequestSpec]:
    """Requests whose first arrives at 0, of records in order of arrival."""
    start = records[0].arrival_ns if records else 0

    def seconds(ns: int) -> float:
        return round((ns - start) * time_scale) / NANOSECONDS

    return [
        RequestSpec(
            f"r{index}" if record.id is None else record.id,
            seconds(record.arrival_ns),
            record.prompt_len,
            record.output_len,
            record.priority,
            record.tenant,
            record.prefix,
            None if record.abort_ns is None else seconds(record.abort_ns),
        )
        for index, record in enumerate(records)
    ]
