"""Files of one JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sched_core import InputError


def read(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, its object). Blank lines, CRLF and a byte-order mark are tolerated; all else that
    cannot be read raises InputError naming file and line."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text: {error}", file=path) from None
    for row, line in enumerate(text.split("\n"), 1):  # JSON strings may hold U+2028 and the like
        if line.strip():
            yield row, _object(line, path, row)


def _object(line: str, path: Path, row: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", file=path, row=row) from None
    if not isinstance(found, dict):
        raise InputError("is no JSON object", file=path, row=row, expected='{"key": value, ...}')
    return found
