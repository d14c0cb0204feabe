"""Which column of a table holds which field of a request, and the requests it holds."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import attrs

from sched_core.errors import InputError, UnknownName
from sched_core.limits import Integers, Numbers
from sched_core.workload import spec
from sched_core.workload.further import further_columns
from sched_core.workload.record import Record
from sched_core.workload.row import Row
from sched_core.workload.spec import SharedPrefix
from sched_core.workload.stamps import Moment, Unit

REQUIRED = ("arrival", "prompt_len", "output_len")
TIMES = ("abort", "deadline")
"""Further points in time, written as arrivals are."""
_APART = ("id", "prefix", "extra", *REQUIRED, *TIMES)
SIMPLE = tuple(name for name in spec.FIELDS if name not in _APART)
FIELDS = (*REQUIRED, "id", *TIMES, *SIMPLE, "prefix_group", "prefix_len")
"""Every field that a column can hold."""


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
    where: Mapping[str, str] = attrs.field(init=False)
    """Field -> its column, of all fields."""

    @where.default
    def _all(self) -> dict[str, str]:
        for field in self.names:
            if field not in FIELDS:
                raise UnknownName("field of a request", field, FIELDS)
        return {field: self.names.get(field, field) for field in FIELDS}

    def demand(self, seen: Iterable[str], *, file: str, row: int | None = None) -> None:
        """Raises unless the table has every column that is named, and those of `REQUIRED`."""
        where = f"{file}, line {row}" if row is not None else file
        columns = list(seen)
        for column in self.names.values():
            if column not in columns:
                raise UnknownName("column", column, columns, where=where)
        self._further(dict.fromkeys(columns), where)
        for field in REQUIRED:
            if self.where[field] not in columns:
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
                raise row.error(self.where["id"], "an id in every row, or in none", problem)
            if record.id is not None:
                if record.id in seen:
                    expected = f"an id of its own: {seen[record.id]} has this one"
                    raise row.error(self.where["id"], expected)
                seen[record.id] = row.place
            yield record

    def _record(self, row: Row, clock: Clock) -> Record:
        where = self.where
        prompt_len = row.tokens(where["prompt_len"])
        return Record(
            clock.ns(row, where["arrival"]),
            prompt_len,
            row.tokens(where["output_len"]),
            self._prefix(row, prompt_len),
            row.text(where["id"]) if row.has(where["id"]) else None,
            {name: clock.ns(row, where[name]) for name in TIMES if row.has(where[name])},
            self._more(row),
        )

    def _more(self, row: Row) -> dict[str, Any]:
        given = [name for name in SIMPLE if row.has(self.where[name])]
        more = {name: _value(row, self.where[name], name) for name in given}
        if "turn" in more and "session" not in more:
            raise row.error(self.where["session"], "the session that it is a turn of")
        extra = self._further(row.values, row.whole_place)
        return more | {"extra": extra} if extra else more

    def _further(self, values: Mapping[str, object], where: str) -> dict[str, Any] | None:
        """What no field is read from; a name is a slip only of one that is not found elsewhere."""
        used = set(self.where.values())
        others = {name: value for name, value in values.items() if name not in used}
        free = [field for field in FIELDS if field not in self.names]
        return further_columns(others, free, where=where)

    def _prefix(self, row: Row, prompt_len: int) -> SharedPrefix | None:
        group, length = self.where["prefix_group"], self.where["prefix_len"]
        if not row.has(group) and not row.has(length):
            return None
        name, tokens = row.text(group), row.tokens(length)
        if tokens > prompt_len:
            raise row.error(length, f"at most {self.where['prompt_len']} = {prompt_len}")
        return SharedPrefix(name, tokens) if tokens else None


def _value(row: Row, column: str, name: str) -> object:
    """A cell as the type of its field, within the field's limits."""
    field = spec.FIELDS[name]
    limits = getattr(field.metadata["check"], "__self__", None)
    if isinstance(limits, Integers):
        return row.integer(column, limits)
    if isinstance(limits, Numbers):
        return float(row.number(column, limits))
    text, choices = row.text(column), get_args(field.type)
    if choices and str not in choices and text not in choices:
        raise row.error(column, " or ".join(map(str, choices)))
    return text
