"""Columns for which a request has no field: kept as they are given, unless one looks misspelt."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from sched_core.errors import UnknownName
from sched_core.workload.record import Record
from sched_core.workload.spec import Cell, RequestSpec

ALIKE = 0.8
"""How alike a name is to a known one that it is taken for a slip (difflib's ratio)."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?", re.ASCII)


def further_columns(
    row: Mapping[str, object], known: Iterable[str], *, where: str
) -> dict[str, Cell] | None:
    """The columns of `row` that are not `known`, for `RequestSpec.extra`; None if there are none.

    Lists and objects are kept as their JSON text. Raises UnknownName for a name that is nearly a
    known one: to keep it silently would leave the known one at its default.
    """
    names = list(known)
    kept: dict[str, Cell] = {}
    for name in row:
        if name in names:
            continue
        if difflib.get_close_matches(name.lower(), names, n=1, cutoff=ALIKE):
            raise UnknownName("column", name, names, where=where)
        kept[name] = _plain(row[name])
    return kept or None


def further_of(requests: Iterable[RequestSpec]) -> dict[str, object]:
    """For the setting of a result: the names of all further columns, if there are any."""
    names = dict.fromkeys(name for spec in requests for name in spec.extra or ())
    return {"extra": list(names)} if names else {}


def with_numbers(records: Sequence[Record]) -> list[Record]:
    """The records with further columns of a CSV as numbers, where all of a column's cells are.

    Cells that are blank are None. `007` is no number, nor is what has more digits than a float.
    """
    names = dict.fromkeys(name for record in records for name in record.more.get("extra", ()))
    numeric = {name for name in names if _all_numbers(records, name)}
    return [
        _with_numbers(record, numeric) if record.more.get("extra") else record for record in records
    ]


def _all_numbers(records: Sequence[Record], name: str) -> bool:
    cells = (record.more.get("extra", {}).get(name) or "" for record in records)
    return all(_NUMBER.fullmatch(cell) for cell in map(str.strip, cells) if cell)


def _with_numbers(record: Record, numeric: set[str]) -> Record:
    extra = {
        name: (_number(cell) if name in numeric else cell) if cell and cell.strip() else None
        for name, cell in record.more["extra"].items()
    }
    return record._replace(more={**record.more, "extra": extra})


def _number(cell: str) -> int | float:
    return float(cell) if "." in cell else int(cell)


def _plain(value: object) -> Cell:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Cell):
        return value
    return json.dumps(value, default=str)
