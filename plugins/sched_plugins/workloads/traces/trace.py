"""From the rows of a trace file to a workload: drop, sort, cut, shift, scale.

Arrivals are integers of nanoseconds until the very end, so their differences are exact.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import ClassVar, NamedTuple

import attrs
from attrs.validators import optional

from sched_core import HashedPrefix, InputError, RequestSpec, SharedPrefix, Workload, limits
from sched_plugins.workloads.traces.files import read_layout, read_rows
from sched_plugins.workloads.traces.formats import FORMATS, demand, refuse_unknown
from sched_plugins.workloads.traces.rows import Row
from sched_plugins.workloads.validators import parsed_by

NANOSECONDS = 10**9


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


class Drop(NamedTuple):
    """A row that is no request, and why."""

    reason: str


def parse_window(text: str) -> tuple[float, float]:
    """`FROM..TO` in seconds, FROM <= t < TO; TO may be `inf`. Raises InputError otherwise."""
    low, dots, high = text.partition("..")
    try:
        first, last = float(low), float(high)
    except ValueError:
        first, last = 0.0, 0.0
    if not dots or not 0 <= first < last or first == inf:
        raise InputError(
            "not a window", value=text, expected="FROM..TO in seconds, such as 0..600 or 600..inf"
        )
    return first, last


@attrs.frozen(kw_only=True)
class Selection:
    """Which part of which file, and how fast.

    Rows are sorted by arrival, equal arrivals in file order, so an unsorted file gives what the
    sorted one gives. Then the `window` is cut, `limit` requests are kept, and arrivals are
    shifted to start at 0 and scaled. The whole file is read, and checked, whatever is kept of it.
    """

    path: str = attrs.field(validator=limits.text, metadata={"file": True})
    limit: int | None = attrs.field(default=None, validator=optional(limits.COUNTS))
    """Keep the first so many requests."""
    window: str | None = attrs.field(default=None, validator=optional(parsed_by(parse_window)))
    """Keep FROM <= t < TO, in seconds of the trace since its first request: `600..1200`."""
    time_scale: float = attrs.field(default=1.0, validator=limits.Numbers(1e-6, 1e6))
    """Factor on arrivals: 2 makes the trace twice as long, so half the rate."""


@attrs.frozen(kw_only=True)
class Trace(Selection, ABC):
    """What all readers share: a reader says what one row means."""

    format: ClassVar[str]

    @abstractmethod
    def record(self, row: Row) -> Record | Drop:
        """What `row` says; raises InputError where it cannot be used."""

    def rows(self) -> Iterator[Row]:
        """The file's rows, in file order; raises where they are not of this format."""
        form = FORMATS[self.format]
        demand(form, read_layout(self.path))
        for row in read_rows(self.path, form.kind):
            refuse_unknown(form, row.values, row.file, row.line)
            yield row

    def respaced(self, records: list[Record]) -> list[Record]:
        """The records with arrivals moved, where a format must and the user asked for it."""
        return records

    def build(self, seed: int) -> Workload:
        """The trace as a workload; a trace holds nothing random, so `seed` changes nothing."""
        dropped: Counter[str] = Counter()
        records = self._read(dropped)
        rows_read = len(records) + dropped.total()
        kept = self._cut(sorted(self.respaced(records), key=_arrival), dropped)
        if not kept:
            raise InputError(
                f"no usable request in {rows_read} rows{_counted(dropped)}", file=self.path
            )
        return Workload(
            requests=self._specs(kept),
            dropped=dict(+dropped),  # without the zeros
            description=self._describe(rows_read),
        ).with_chains()

    def _read(self, dropped: Counter[str]) -> list[Record]:
        records = []
        for row in self.rows():
            answer = self.record(row)
            if isinstance(answer, Drop):
                dropped[answer.reason] += 1
            else:
                records.append(answer)
        return records

    def _cut(self, records: list[Record], dropped: Counter[str]) -> list[Record]:
        if self.window and records:
            start, (low, high) = records[0].arrival_ns, parse_window(self.window)
            inside = [r for r in records if low <= (r.arrival_ns - start) / NANOSECONDS < high]
            dropped["outside the window"] = len(records) - len(inside)
            records = inside
        if self.limit:
            dropped["beyond the limit"] = max(0, len(records) - self.limit)
            records = records[: self.limit]
        return records

    def _specs(self, records: list[Record]) -> list[RequestSpec]:
        start = records[0].arrival_ns
        self._check_span((records[-1].arrival_ns - start) / NANOSECONDS)
        return [
            RequestSpec(
                f"r{index}" if record.id is None else record.id,
                round((record.arrival_ns - start) * self.time_scale) / NANOSECONDS,
                record.prompt_len,
                record.output_len,
                record.priority,
                record.tenant,
                record.prefix,
            )
            for index, record in enumerate(records)
        ]

    def _check_span(self, seconds: float) -> None:
        if not limits.SECONDS.holds(seconds * self.time_scale):
            raise InputError(
                f"the last request comes {seconds:g} s after the first, times {self.time_scale:g}",
                file=self.path,
                field="time_scale",
                expected=f"{limits.SECONDS} in all",
            )

    def _describe(self, rows_read: int) -> dict[str, object]:
        given = attrs.asdict(self)
        path = given.pop("path")
        return {
            "kind": "trace",
            "format": self.format,
            "path": path,
            "rows_read": rows_read,
            **given,
        }


def _arrival(record: Record) -> int:
    return record.arrival_ns


def _counted(dropped: Counter[str]) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.items() if count)
    return f" ({reasons})" if reasons else ""
