"""Columns for which a request has no field: kept as they are given, unless one looks misspelt."""

import difflib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal

from sched_core.errors import UnknownName
from sched_core.workload.source import Workload
from sched_core.workload.spec import Cell

ALIKE = 0.8
"""How alike a name is to a known one that it is taken for a slip (difflib's ratio)."""


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


def further_of(workload: Workload) -> dict[str, object]:
    """For the setting of a result: the names of all further columns, if there are any."""
    names = dict.fromkeys(name for spec in workload.requests for name in spec.extra or ())
    return {"extra": list(names)} if names else {}


def _plain(value: object) -> Cell:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Cell):
        return value
    return json.dumps(value, default=str)
