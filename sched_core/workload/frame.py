"""Data frames as requests: pandas, polars, pyarrow, or a plain dict of columns.

None of these libraries is imported: a frame is what has named columns.
"""

from collections.abc import Mapping
from typing import Any

from sched_core.errors import InputError
from sched_core.workload.cells import cell
from sched_core.workload.columns import Clock, Columns
from sched_core.workload.record import in_order, order_note, requests
from sched_core.workload.row import Row
from sched_core.workload.spec import RequestSpec
from sched_core.workload.stamps import Unit

PLACE = "frame"


def read(
    frame: Any, unit: Unit | None, names: Mapping[str, str]
) -> tuple[list[RequestSpec], dict[str, object]]:
    """The requests of a frame, the first at 0, and the setting: what was read and how."""
    found = _columns(frame)
    columns, clock = Columns(names, unit), Clock(unit)
    columns.demand(found, file=PLACE)
    cells = {name: [cell(value) for value in column] for name, column in found.items()}
    size = len(cells[columns.where["arrival"]])
    rows = (
        Row(f"{PLACE}, row {index}", None, {name: cells[name][index] for name in cells}, "table")
        for index in range(size)
    )
    records = list(columns.records(rows, clock))
    setting: dict[str, object] = {"kind": "frame", "rows_read": size, **names}
    return requests(in_order(records)), setting | clock.note | order_note(records)


def _columns(frame: Any) -> Mapping[str, Any]:
    """Column by name; raises InputError where there are none, or of different lengths."""
    if isinstance(frame, Mapping):
        found = dict(frame)
    elif hasattr(frame, "column_names"):  # pyarrow
        found = {name: frame.column(name).to_pylist() for name in frame.column_names}
    elif hasattr(frame, "columns"):
        found = {name: frame[name] for name in frame.columns}
    else:
        raise InputError(
            "not a frame",
            value=type(frame).__name__,
            expected="a frame of pandas, polars or pyarrow, or a dict of columns",
        )
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError("columns of different lengths", file=PLACE, value=listed)
    return found
