"""Rows of a CSV or JSON-lines file, and their cells as exact numbers.

Tolerated: CRLF, a byte-order mark, blank lines, no newline at the end. Everything else that does
not fit raises one InputError naming file, line, field and value.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import IO, Literal, NamedTuple

import attrs

from sched_core import InputError

Kind = Literal["csv", "jsonl"]

MAX_TOKENS = 2**31 - 1
MAX_SECONDS = 10**10
"""317 years: anything later is milliseconds taken for seconds."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


class Layout(NamedTuple):
    """The columns of a CSV file, or the keys of one JSON object, and where they stand."""

    kind: Kind
    columns: tuple[str, ...]
    file: str
    line: int
    """As an editor counts: from 1."""


@attrs.frozen(slots=True)
class Row:
    """One row. CSV values are text; JSON values are as parsed, numbers being int or Decimal."""

    file: str
    line: int
    """As an editor counts: from 1, a header included."""
    values: Mapping[str, object]
    kind: Kind

    def error(self, field: str, expected: str, problem: str = "cannot be used") -> InputError:
        """The error that says what is wrong with the value of `field`."""
        if not self.has(field):
            problem = "missing"
        value = self.values.get(field)
        return InputError(
            problem,
            file=self.file,
            row=self.line,
            field=field,
            value=_shown(value),
            expected=expected,
        )

    def has(self, field: str) -> bool:
        """Is there a value: not absent, not null, not blank?"""
        value = self.values.get(field)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def nanoseconds(self, field: str) -> int:
        """A number of seconds >= 0, to the nearest nanosecond."""
        expected = f"seconds, a number from 0 to {MAX_SECONDS:.0e}"
        return round(self._number(field, expected, 0, MAX_SECONDS) * 10**9)

    def tokens(self, field: str) -> int:
        """A number of tokens, >= 0."""
        return self.integer(field, 0, MAX_TOKENS)

    def integer(self, field: str, low: int, high: int) -> int:
        """An integer of low..high; `5.0` is one."""
        expected = f"an integer from {low} to {high}"
        value = self._number(field, expected, low, high)
        if value != int(value):
            raise self.error(field, expected)
        return int(value)

    def text(self, field: str) -> str:
        """A text that is not blank; in JSON an integer is taken for its digits."""
        value = self.values.get(field)
        if not self.has(field) or isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.error(field, "a text")
        return str(value)

    def _number(self, field: str, expected: str, low: int, high: int) -> Decimal:
        value = self.values.get(field)
        if self.kind == "csv" and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = Decimal(value.strip())
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise self.error(field, expected)
        number = Decimal(value)
        if not number.is_finite() or not low <= number <= high:
            raise self.error(field, expected)
        return number


def _shown(value: object) -> object:
    """A JSON value as it was written, where that is short."""
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return float(value) if isinstance(value, Decimal) else value


def read_layout(path: str) -> Layout:
    """Kind and columns, from the first line that is not blank."""
    with _opened(path) as file:
        for line, text in enumerate(file, start=1):
            if text.lstrip().startswith(("{", "[")):
                return Layout("jsonl", tuple(_object(path, line, text)), path, line)
            if text.strip():
                return Layout("csv", _stripped(next(csv.reader([text]))), path, line)
    raise InputError("the file is empty", file=path)


def read_rows(path: str, kind: Kind) -> Iterator[Row]:
    """The rows in file order, read as they are asked for."""
    return _csv_rows(path) if kind == "csv" else _json_rows(path)


def _csv_rows(path: str) -> Iterator[Row]:
    with _opened(path) as file:
        reader = csv.reader(file, strict=True)
        header: tuple[str, ...] = ()
        try:
            for cells in reader:
                if not cells:
                    continue
                line = reader.line_num
                if not header:
                    header = _header(path, line, cells)
                else:
                    yield Row(path, line, _paired(path, line, header, cells), "csv")
        except csv.Error as error:
            raise InputError(f"not CSV: {error}", file=path, row=reader.line_num) from error


def _json_rows(path: str) -> Iterator[Row]:
    with _opened(path) as file:
        for line, text in enumerate(file, start=1):
            if text.strip():
                yield Row(path, line, _object(path, line, text), "jsonl")


def _header(path: str, line: int, cells: list[str]) -> tuple[str, ...]:
    names = _stripped(cells)
    for name in names:
        if names.count(name) > 1:
            raise InputError("a column is named twice", file=path, row=line, value=name)
    return names


def _stripped(cells: list[str]) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in cells)


def _paired(path: str, line: int, header: tuple[str, ...], cells: list[str]) -> dict[str, object]:
    if len(cells) != len(header):
        raise InputError(
            "the row does not fit the header",
            file=path,
            row=line,
            value=",".join(cells),
            expected=f"{len(header)} cells: {', '.join(header)}",
        )
    return dict(zip(header, cells, strict=True))


def _object(path: str, line: int, text: str) -> dict[str, object]:
    try:
        value = json.loads(text, parse_float=Decimal, parse_constant=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"not JSON: {error}", file=path, row=line, expected="one whole JSON object on each line"
        ) from error
    if not isinstance(value, dict):
        raise InputError(
            f"a JSON {type(value).__name__}",
            file=path,
            row=line,
            expected="one whole JSON object on each line",
        )
    return value


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error}", file=path) from error
