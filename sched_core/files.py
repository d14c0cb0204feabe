"""Reads text files, or says in one InputError, with file and line, why not.

All take UTF-8, and tolerate a byte-order mark and CRLF. Files may be gzip or zstd, pipes, or `-`,
which is the standard input.
"""

import csv
import io
import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import IO, Any

from sched_core.errors import InputError
from sched_core.streams import Place, called, is_parquet, lasts, opened, raw

__all__ = [
    "Place",
    "called",
    "holds_parquet",
    "lasts",
    "opened_raw",
    "read_csv",
    "read_json",
    "read_json_lines",
    "read_lines",
    "read_text",
    "read_toml",
]

_ONE_A_LINE = "one whole JSON object on each line"
_EXACT: dict[str, Any] = {"parse_float": Decimal, "parse_constant": Decimal}


def read_text(path: Place) -> str:
    """The file's whole text."""
    with _readable(path, "UTF-8 text"):
        return _text(path)


def read_json(path: Place, *, expected: str | None = None, exact: bool = False) -> Any:
    """The file's one JSON value, no key twice; `expected` is what to have in place of no JSON.

    `exact`: numbers are int or Decimal, and never float.
    """
    with _readable(path, "JSON", expected):
        return json.loads(_text(path), object_pairs_hook=_once, **_EXACT if exact else {})


def read_toml(path: Place, *, expected: str | None = None) -> dict[str, Any]:
    """The file's keys and values; `expected` likewise."""
    with _readable(path, "TOML", expected):
        return tomllib.loads(_text(path))


def read_lines(path: Place) -> Iterator[tuple[int, str]]:
    """(line, its text) where it is not blank, read as they are asked for.

    Lines count from 1, and end as in an editor: U+2028 ends none.
    """
    with _opened(path) as file:
        for row, line in enumerate(file, 1):
            if line.strip():
                yield row, line


def read_json_lines(path: Place, *, exact: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, its JSON object), likewise; `exact` as above."""
    for row, line in read_lines(path):
        try:
            found = json.loads(line, object_pairs_hook=_once, **_EXACT if exact else {})
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", error)  # without a position, which would say line 1
            raise InputError(
                f"is not JSON: {why}", file=called(path), row=row, expected=_ONE_A_LINE
            ) from None
        if not isinstance(found, dict):
            raise InputError("is no JSON object", file=called(path), row=row, expected=_ONE_A_LINE)
        yield row, found


def read_csv(path: Place, *, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """(line, its cells), likewise, the header among them; a row of several lines has its last."""
    with _opened(path) as file:
        reader = csv.reader(file, strict=True, delimiter=delimiter)
        try:
            for cells in reader:
                if len(cells) > 1 or "".join(cells).strip():
                    yield reader.line_num, cells
        except csv.Error as error:
            problem = f"is not CSV: {error}"
            raise InputError(problem, file=called(path), row=reader.line_num) from None


def holds_parquet(path: Place) -> bool:
    """Is it a Parquet file, whatever its name?"""
    with opened_raw(path) as file:
        return is_parquet(file.peek(4)[:4])


@contextmanager
def opened_raw(path: Place) -> Iterator[io.BufferedReader]:
    """The file's bytes as they are, for a reader of its own."""
    with _readable(path, "a file"), raw(path) as file:
        yield file


def _text(path: Place) -> str:
    with opened(path) as file:
        return file.read().decode("utf-8-sig")


@contextmanager
def _opened(path: Place) -> Iterator[IO[str]]:
    with _readable(path, "UTF-8 text"), opened(path) as file:
        yield io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


@contextmanager
def _readable(path: Place, form: str, expected: str | None = None) -> Iterator[None]:
    """InputError where the block finds that the file is not there, or not in this form."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=called(path)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not {form}: {error}", file=called(path), expected=expected) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError where a key stands twice in it."""
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in names if names.count(key) > 1)!r} given twice")
    return keys
