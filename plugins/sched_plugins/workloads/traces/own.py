"""Our own format, and any table whose columns the user names: the fields of a request.

`arrival`, `prompt_len` and `output_len` are required; others may be left out, or empty. A length of
0 is kept: the engine rejects that request, with the reason, and runs the others.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
from attrs.validators import optional

from sched_core import InputError, limits
from sched_core.tables import FIELDS, Clock, Columns, Layout, Record, Row, Unit, with_numbers
from sched_plugins.workloads.traces.foreign import oddity
from sched_plugins.workloads.traces.formats import FORMATS, Format, demand
from sched_plugins.workloads.traces.table import open_table
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace
from sched_plugins.workloads.validators import parsed_by

_column = attrs.field(
    default=None,
    type=str | None,  # type: ignore[arg-type] # is a type
    validator=optional(limits.text),
)

Mapped: Any = attrs.make_class(
    "Mapped", dict.fromkeys(FIELDS, _column), bases=(Trace,), frozen=True, kw_only=True
)
"""A reader with a parameter for each field: the column that holds it, if not that of its name."""


@attrs.frozen(kw_only=True)
class OwnTrace(Mapped):  # type: ignore[misc] # made of the list of fields
    """What all ways of writing share."""

    quiet = (*FIELDS, "unit", "sep")

    unit: Unit | None = None
    """What stamps count; without it numbers are seconds, and dates are read as such."""

    @property
    def separator(self) -> str:
        """What stands between two cells of CSV."""
        return ","

    def rows(self, reading: Reading) -> Iterator[Row]:
        """The file's rows; raises unless it has the columns that it should have."""
        form, table = FORMATS[self.format], open_table(self.path, self.separator)
        layout = table.layout
        if layout.kind in form.kinds and (self._columns.names or _is_ours(form, layout)):
            self._columns.demand(layout.columns, file=layout.file, row=layout.line)
        else:
            demand(form, layout)
        yield from table.rows()

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        clock = Clock(self.unit)
        yield from self.typed(self._columns.records(rows, clock))
        reading.notes |= clock.note

    def typed(self, records: Iterable[Record]) -> Iterable[Record]:
        """The records with further columns of the type that they have."""
        return records

    @property
    def _columns(self) -> Columns:
        given = {field: getattr(self, field) for field in FIELDS}
        return Columns({field: name for field, name in given.items() if name}, self.unit)


def _is_ours(form: Format, layout: Layout) -> bool:
    """Has the table one of our columns at least, and is it none that we know as another's?"""
    return not oddity(layout) and not set(form.required).isdisjoint(layout.columns)


def parse_separator(text: str) -> str:
    """One character, or `tab`; raises InputError otherwise."""
    if text == "tab":
        return "\t"
    if len(text) != 1 or text in '"\r\n':
        raise InputError("no separator", value=text, expected="one character, such as ;, or tab")
    return text


@attrs.frozen(kw_only=True)
class OwnCsv(OwnTrace):
    """Any CSV with arrivals and lengths: under our names, or under those given."""

    format = "csv"

    sep: str | None = attrs.field(default=None, validator=optional(parsed_by(parse_separator)))
    """What stands between cells, if not a comma: `;`, `|` or `tab`."""

    @property
    def separator(self) -> str:
        return parse_separator(self.sep or ",")

    def typed(self, records: Iterable[Record]) -> Iterable[Record]:
        return with_numbers(list(records))


@attrs.frozen(kw_only=True)
class OwnJsonl(OwnTrace):
    """Any JSON with arrivals and lengths, as csv: one object a line, or a list of objects."""

    format = "jsonl"


@attrs.frozen(kw_only=True)
class OwnParquet(OwnTrace):
    """Any Parquet file with arrivals and lengths, as csv."""

    format = "parquet"
