"""Parquet files, by pyarrow where that is installed."""

from collections.abc import Mapping
from typing import Any

from sched_core import InputError, files
from sched_core.tables import cell


def columns(path: str) -> tuple[str, ...]:
    """The names of its columns."""
    return tuple(_table(path).column_names)


def rows(path: str) -> list[Mapping[str, object]]:
    """Its rows, each cell as a row of any table has it."""
    table = _table(path)
    listed = {
        name: [cell(value) for value in _values(column)]
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    return [{name: listed[name][row] for name in listed} for row in range(table.num_rows)]


def _table(path: str) -> Any:
    try:
        from pyarrow import ArrowException, parquet
    except ModuleNotFoundError:
        raise InputError(
            "is a Parquet file, and nothing here reads that",
            file=files.called(path),
            expected="pip install 'schedfw[files]', or the table as CSV",
        ) from None
    with files.opened_raw(path) as file:
        try:
            return parquet.read_table(file)
        except (ArrowException, OSError) as error:
            raise InputError(
                f"is no whole Parquet file: {error}", file=files.called(path)
            ) from None


def _values(column: Any) -> Any:
    """Its values; times as numpy has them, since Python's own drop nanoseconds."""
    from pyarrow import types

    return column.to_numpy() if types.is_timestamp(column.type) else column.to_pylist()
