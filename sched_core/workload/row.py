"""One row of a table of requests, and its cells as exact numbers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

import attrs

from sched_core.errors import InputError
from sched_core.limits import SECONDS, TOKENS, Integers, Numbers
from sched_core.workload import stamps

Kind = Literal["csv", "jsonl", "json", "table"]
"""Cells are text in `csv`, JSON values in `jsonl` and `json` (one value for all rows), and typed
values in `table`: a Parquet file, or a data frame."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


class Layout(NamedTuple):
    """The columns of a table, or the keys of its first JSON object, and where they stand."""

    kind: Kind
    columns: tuple[str, ...]
    file: str
    line: int | None
    """As an editor counts: from 1; None where the file has no lines."""
    first: Mapping[str, object] = {}
    """The first JSON object itself."""


@attrs.frozen(slots=True)
class Row:
    """One row. CSV values are text; others are as parsed, numbers being int or Decimal."""

    file: str
    """Its name, and which part of it where it has no lines."""
    line: int | None
    """As an editor counts: from 1, a header included."""
    values: Mapping[str, object]
    kind: Kind
    within: str = ""
    """Which part of the row it is, before the names of its fields in messages."""

    @property
    def place(self) -> str:
        """Which row of the file it is, for messages about another one."""
        return self.file if self.line is None else f"line {self.line}"

    @property
    def whole_place(self) -> str:
        """The same with the file's name."""
        return self.file if self.line is None else f"{self.file}, line {self.line}"

    def error(self, field: str, expected: str, problem: str = "cannot be used") -> InputError:
        """The error that says what is wrong with the value of `field`."""
        if not self.has(field):
            problem = "missing"
        value = self.values.get(field)
        return InputError(
            problem,
            file=self.file,
            row=self.line,
            field=self.within + field,
            value=_shown(value),
            expected=expected,
        )

    def has(self, field: str) -> bool:
        """Is there a value: not absent, not null, not blank?"""
        value = self.values.get(field)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def part(self, field: str) -> "Row":
        """The JSON object under `field`, as a row of its own."""
        value = self.values.get(field)
        if not isinstance(value, Mapping):
            raise self.error(field, "an object")
        return attrs.evolve(self, values=value, within=f"{self.within}{field}.")

    def parts(self, field: str) -> Iterator["Row"]:
        """The JSON objects listed under `field`, likewise."""
        value = self.values.get(field)
        if not isinstance(value, list):
            raise self.error(field, "a list of objects")
        for index, item in enumerate(value):
            if not isinstance(item, Mapping):
                raise self.error(field, "a list of objects", f"holds none at {index}")
            yield attrs.evolve(self, values=item, within=f"{self.within}{field}[{index}].")

    def zipped(self, fields: Sequence[str]) -> Iterator["Row"]:
        """The i-th item of each of some lists, which must be equally long, for every i."""
        columns: list[list[object]] = []
        for field in fields:
            column = self.values.get(field)
            if not isinstance(column, list):
                raise self.error(field, "a list, an item for each request")
            columns.append(column)
            if len(column) != len(columns[0]):
                raise self.error(field, f"as many as in {fields[0]!r}, one for each request")
        for index, items in enumerate(zip(*columns, strict=True)):
            values = dict(zip(fields, items, strict=True))
            yield attrs.evolve(self, values=values, within=f"{self.within}[{index}].")

    def nanoseconds(self, field: str) -> int:
        """A number of seconds >= 0, to the nearest nanosecond."""
        return round(self.number(field, SECONDS) * 10**9)

    def moment(self, field: str, unit: stamps.Unit | None = None) -> stamps.Moment:
        """A point in time: a number in `unit`, or, where none is given, of seconds or a date."""
        value = self._as_number(field)
        try:
            if value is not None:
                return stamps.number(value, unit)
            if unit is None and isinstance(text := self.values.get(field), str):
                return stamps.date(text)
        except ValueError:
            pass
        raise self.error(field, stamps.expected(value, unit))

    def tokens(self, field: str) -> int:
        """A number of tokens, >= 0."""
        return self.integer(field, TOKENS)

    def integer(self, field: str, allowed: Integers) -> int:
        """An integer among those allowed; `5.0` is one."""
        value = self.number(field, allowed)
        if value != int(value):
            raise self.error(field, str(allowed))
        return int(value)

    def text(self, field: str) -> str:
        """A text that is not blank; in JSON an integer is taken for its digits."""
        value = self.values.get(field)
        if not self.has(field) or isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.error(field, "a text")
        return str(value)

    def number(self, field: str, allowed: Numbers) -> Decimal:
        """A number among those allowed."""
        value = self._as_number(field)
        if value is None or not Decimal(value).is_finite():
            raise self.error(field, str(allowed))
        number = Decimal(value)
        if not allowed.low <= number <= allowed.high:
            raise self.error(field, str(allowed))
        return number

    def _as_number(self, field: str) -> int | Decimal | None:
        value = self.values.get(field)
        if self.kind == "csv" and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            return Decimal(value.strip())
        return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def _shown(value: object) -> object:
    """A JSON value as it was written, where that is short."""
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return float(value) if isinstance(value, Decimal) else value
