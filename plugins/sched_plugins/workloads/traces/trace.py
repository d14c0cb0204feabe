"""From the rows of a file of requests to a workload: drop, sort, cut, shift, scale."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from math import inf
from typing import ClassVar, NamedTuple

import attrs
from attrs.validators import optional

from sched_core import InputError, Workload, files, limits, tables
from sched_core.tables import Clock, Record, Row
from sched_plugins.workloads.traces.formats import FORMATS, demand, refuse_unknown
from sched_plugins.workloads.traces.table import open_table
from sched_plugins.workloads.validators import parsed_by


class Drop(NamedTuple):
    """A row that is no request, and why."""

    reason: str


@attrs.define
class Reading:
    """What was met on the way through one file."""

    rows: int = 0
    """Requests that it describes, those left out among them."""
    dropped: Counter[str] = attrs.field(factory=Counter)
    notes: dict[str, str] = attrs.field(factory=dict)
    """What the setting must say of it."""
    clock: Clock = attrs.field(factory=Clock)


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
    published: ClassVar[str] = ""
    """Where such files come from."""
    quiet: ClassVar[tuple[str, ...]] = ()
    """Parameters that the setting holds only where they are given."""

    @abstractmethod
    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        """The requests that the rows describe; raises InputError where one cannot be used."""

    def rows(self, reading: Reading) -> Iterator[Row]:
        """The file's rows, in file order; raises where they are not of this format."""
        form = FORMATS[self.format]
        table = open_table(self.path, published=self.published)
        demand(form, table.layout)
        for row in table.rows():
            refuse_unknown(form, row.values, row.file, row.line)
            yield row

    def respaced(self, records: list[Record], seed: int) -> list[Record]:
        """The records with arrivals moved, where a format must and the user asked for it."""
        return records

    def build(self, seed: int) -> Workload:
        """The file as a workload; `seed` counts only where the file holds no arrivals."""
        reading = Reading()
        records = list(self._read(reading))
        reading.notes |= tables.order_note(records)
        kept = self._cut(tables.in_order(self.respaced(records, seed)), reading.dropped)
        if not kept:
            raise InputError(
                f"no usable request in {reading.rows} rows{_counted(reading.dropped)}",
                file=files.called(self.path),
            )
        self._check_span((kept[-1].arrival_ns - kept[0].arrival_ns) / limits.NANOSECONDS)
        return Workload(
            requests=tables.requests(kept, self.time_scale),
            dropped=dict(+reading.dropped),  # without the zeros
            description=self._describe(reading),
        ).with_chains()

    def _read(self, reading: Reading) -> Iterator[Record]:
        for found in self.records(self.rows(reading), reading):
            reading.rows += 1
            if isinstance(found, Drop):
                reading.dropped[found.reason] += 1
            else:
                yield found

    def _cut(self, records: list[Record], dropped: Counter[str]) -> list[Record]:
        if self.window and records:
            start, (low, high) = records[0].arrival_ns, parse_window(self.window)
            inside = [
                r for r in records if low <= (r.arrival_ns - start) / limits.NANOSECONDS < high
            ]
            dropped["outside the window"] = len(records) - len(inside)
            records = inside
        if self.limit:
            dropped["beyond the limit"] = max(0, len(records) - self.limit)
            records = records[: self.limit]
        return records

    def _check_span(self, seconds: float) -> None:
        if not limits.SECONDS.holds(seconds * self.time_scale):
            raise InputError(
                f"the last request comes {seconds:g} s after the first, times {self.time_scale:g}",
                file=files.called(self.path),
                field="time_scale",
                expected=f"{limits.SECONDS} in all",
            )

    def _describe(self, reading: Reading) -> dict[str, object]:
        given = attrs.asdict(self)
        path = files.called(given.pop("path"))
        shown = {k: v for k, v in given.items() if v is not None or k not in self.quiet}
        return {
            "kind": "trace",
            "format": self.format,
            "path": path,
            "rows_read": reading.rows,
            **shown,
            **reading.notes,
        }


def _counted(dropped: Counter[str]) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in dropped.items() if count)
    return f" ({reasons})" if reasons else ""
