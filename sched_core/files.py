"""Reads text files, or says in one InputError, with file and line, why not.

All take UTF-8, and tolerate a byte-order mark and CRLF.
"""

import csv
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from sched_core.errors import InputError

Place = str | os.PathLike[str]

_ONE_A_LINE = "one whole JSON object on each line"


def read_text(path: Place) -> str:
    """The file's whole text."""
    with _readable(path, "UTF-8 text"):
        return _text(path)


def read_json(path: Place, *, expected: str | None = None) -> Any:
    """The file's one JSON value, no key twice; `expected` is what to have in place of no JSON."""
    with _readable(path, "JSON", expected):
        return json.loads(_text(path), object_pairs_hook=_once)


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
    """(line, its JSON object), likewise; `exact`: numbers are int or Decimal, and never float."""
    numbers: dict[str, Any] = {"parse_float": Decimal, "parse_constant": Decimal} if exact else {}
    for row, line in read_lines(path):
        try:
            found = json.loads(line, object_pairs_hook=_once, **numbers)
        except (ValueError, RecursionError) as error:
            why = getattr(error, "msg", error)  # without a position, which would say line 1
            raise InputError(
                f"is not JSON: {why}", file=path, row=row, expected=_ONE_A_LINE
            ) from None
        if not isinstance(found, dict):
            raise InputError("is no JSON object", file=path, row=row, expected=_ONE_A_LINE)
        yield row, found


def read_csv(path: Place) -> Iterator[tuple[int, list[str]]]:
    """(line, its cells), likewise, the header among them; a row of several lines has its last."""
    with _opened(path) as file:
        reader = csv.reader(file, strict=True)
        try:
            for cells in reader:
                if len(cells) > 1 or "".join(cells).strip():
                    yield reader.line_num, cells
        except csv.Error as error:
            raise InputError(f"is not CSV: {error}", file=path, row=reader.line_num) from None


def _text(path: Place) -> str:
    return Path(path).read_text("utf-8-sig")


@contextmanager
def _opened(path: Place) -> Iterator[IO[str]]:
    with _readable(path, "UTF-8 text"), open(path, encoding="utf-8-sig", newline="") as file:
        yield file


@contextmanager
def _readable(path: Place, form: str, expected: str | None = None) -> Iterator[None]:
    """InputError where the block finds that the file is not there, or not in this form."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not {form}: {error}", file=path, expected=expected) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError where a key stands twice in it."""
    keys = dict(pairs)
    if len(keys) < len(pairs):
        names = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in names if names.count(key) > 1)!r} given twice")
    return keys
