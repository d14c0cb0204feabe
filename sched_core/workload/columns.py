"""Which column of a table holds which field of a request, and the requests it holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from sched_core.errors import InputError, UnknownName
from sched_core.limits import PRIORITIES
from sched_core.workload.record import Record
from sched_core.workload.row import Row
from sched_core.workload.spec import SharedPrefix
from sched_core.workload.stamps import Moment, Unit

REQUIRED = ("arrival", "prompt_len", "output_len")

OPTIONAL: dict[str, Callable[[Row, str], Any]] = {
    "id": Row.text,
    "priority": lambda row, column: row.integer(column, PRIORITIES),
    "tenant": Row.text,
}
"""Fields that a row may leave empty, and how a cell of each is read."""

FIELDS = (*REQUIRED, *OPTIONAL, "prefix_group", "prefix_len", "abort")
"""Every field that a column can hold. `abort` is a point in time, as `arrival` is."""


class Clock:
    """Reads the stamps of one table, which must all be written alike."""

    def __init__(self, unit: Unit | None = None) -> None:
        self.unit = unit
        self.form: str | None = None
        """How they are written, once one is read."""

    @property
    def note(self) -> dict[str, str]:
        """What the setting says of stamps that are no numbers of seconds."""
        return {} if self.form in (None, "numbers in s") else {"stamps": str(self.form)}

    def ns(self, row: Row, column: str) -> int:
        """Nanoseconds; raises InputError naming the row."""
        return self.agreed(row, column, row.moment(column, self.unit))

    def agreed(self, row: Row, column: str, moment: Moment) -> int:
        """The moment's nanoseconds, if it is written as those before."""
        if self.form not in (None, moment.form):
            raise row.error(column, f"{self.form}, as before", f"read as {moment.form}")
        self.form = moment.form
        return moment.ns


@attrs.frozen
class Columns:
    """The column of each field; one that is not named is called as the field."""

    names: Mapping[str, str] = attrs.field(factory=dict)
    unit: Unit | None = None

    def __attrs_post_init__(self) -> None:
        for field in self.names:
            if field not in FIELDS:
                raise UnknownName("field of a request", field, FIELDS)

    def of(self, field: str) -> str:
        """The column that holds `field`."""
        return self.names.get(field, field)

    def unread(self, seen: Iterable[object]) -> dict[str, str]:
        """What the setting says of columns that no field is read from."""
        used = {self.of(field) for field in FIELDS}
        others = [str(column) for column in seen if column not in used]
        return {"not_read": ", ".join(others)} if others else {}

    def demand(self, seen: Iterable[str], *, file: str, row: int | None = None) -> None:
        """Raises unless the table has every column that is named, and those of `REQUIRED`."""
        where = f"{file}, line {row}" if row is not None else file
        columns = list(seen)
        for column in self.names.values():
            if column not in columns:
                raise UnknownName("column", column, columns, where=where)
        for field in REQUIRED:
            if self.of(field) not in columns:
                raise InputError(
                    "no such column",
                    file=file,
                    row=row,
                    field=field,
                    value=", ".join(columns),
                    expected=f"{field}=COLUMN, the one that holds it",
                )

    def records(self, rows: Iterable[Row], clock: Clock) -> Iterator[Record]:
        """What each row says; raises InputError unless each has an id of its own, or none has."""
        seen: dict[str, str] = {}
        for position, row in enumerate(rows):
            record = self._record(row, clock)
            if (record.id is not None) != bool(seen) and position:
                problem = "given in some rows only"
                raise row.error(self.of("id"), "an id in every row, or in none", problem)
            if record.id is not None:
                if record.id in seen:
                    expected = f"an id of its own: {seen[record.id]} has this one"
                    raise row.error(self.of("id"), expected)
                seen[record.id] = row.place
            yield record

    def _record(self, row: Row, clock: Clock) -> Record:
        prompt_len = row.tokens(self.of("prompt_len"))
        abort = self.of("abort")
        return Record(
            clock.ns(row, self.of("arrival")),
            prompt_len,
            row.tokens(self.of("output_len")),
            prefix=self._prefix(row, prompt_len),
            abort_ns=clock.ns(row, abort) if row.has(abort) else None,
            **{
                field: read(row, self.of(field))
                for field, read in OPTIONAL.items()
                if row.has(self.of(field))
            },
        )

    def _prefix(self, row: Row, prompt_len: int) -> SharedPrefix | None:
        group, length = self.of("prefix_group"), self.of("prefix_len")
        if not row.has(group) and not row.has(length):
            return None
        name, tokens = row.text(group), row.tokens(length)
        if tokens > prompt_len:
            raise row.error(length, f"at most {self.of('prompt_len')} = {prompt_len}")
        return SharedPrefix(name, tokens) if tokens else None
