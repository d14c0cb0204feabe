"""What rows say of requests, and the requests of a workload made from it.

Arrivals are integers of nanoseconds until the very end, so their differences are exact.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sched_core.limits import NANOSECONDS
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix


class Record(NamedTuple):
    """What a row says of one request."""

    arrival_ns: int
    prompt_len: int
    output_len: int
    prefix: SharedPrefix | HashedPrefix | None = None
    id: str | None = None
    """None: r0, r1, ... in order of arrival."""
    times_ns: Mapping[str, int] = {}
    """Fields that are times of the run, on the clock of `arrival_ns`."""
    more: Mapping[str, Any] = {}
    """All other fields that the row gives."""


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
    """Requests whose first arrives at 0, of records in order of arrival.

    `time_scale` moves arrivals apart or together; how long after its own a request is given up,
    or due, stays as it was.
    """
    start = records[0].arrival_ns if records else 0
    specs = []
    for index, record in enumerate(records):
        arrival_ns = round((record.arrival_ns - start) * time_scale)
        times: dict[str, Any] = {
            name: (arrival_ns + time_ns - record.arrival_ns) / NANOSECONDS
            for name, time_ns in record.times_ns.items()
        }
        specs.append(
            RequestSpec(
                f"r{index}" if record.id is None else record.id,
                arrival_ns / NANOSECONDS,
                record.prompt_len,
                record.output_len,
                prefix=record.prefix,
                **times,
                **record.more,
            )
        )
    return specs
