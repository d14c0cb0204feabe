"""CSV and JSON-lines files, row by row.

Tolerated: CRLF, a byte-order mark, blank lines, no newline at the end. Everything else that does
not fit raises one InputError naming file, line and what was found.
"""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import IO

from sched_core import InputError
from sched_plugins.workloads.traces.rows import Kind, Layout, Row

_JSON_LINES = "one whole JSON object on each line"


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
                if len(cells) <= 1 and not "".join(cells).strip():
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
            f"not JSON: {getattr(error, 'msg', error)}", file=path, row=line, expected=_JSON_LINES
        ) from error
    if not isinstance(value, dict):
        found = f"a JSON {type(value).__name__}"
        raise InputError(found, file=path, row=line, expected=_JSON_LINES)
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
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=path) from error
