"""Files of requests as rows: CSV, JSON lines, JSON and Parquet alike.

Tolerated: CRLF, a byte-order mark, blank lines, no newline at the end. Everything else that does
not fit raises one InputError naming file, line and what was found.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import attrs

from sched_core import InputError, files
from sched_core.tables import Kind, Layout, Row
from sched_plugins.workloads.traces import parquet


@attrs.frozen
class Table:
    """What a file holds, and its rows in file order, read as they are asked for."""

    layout: Layout
    rows: Callable[[], Iterator[Row]]


def open_table(path: str, sep: str = ",", *, published: str = "") -> Table:
    """The file, of a kind that its first bytes tell; `sep` stands between the cells of CSV.

    Raises InputError where there is none, saying where such files are `published`.
    """
    if files.lasts(path) and not os.path.exists(path):
        problem = "cannot be read: No such file or directory"
        expected = f"a file as from {published}" if published else None
        raise InputError(problem, file=path, expected=expected)
    if files.holds_parquet(path):
        return _listed(path, "table", parquet.columns(path), parquet.rows(path))
    line, text = next(files.read_lines(path), (0, ""))
    if text.lstrip().startswith("["):
        return _json(path, files.read_json(path, exact=True))
    if text.lstrip().startswith("{"):
        return _json_lines(path)
    for line, cells in files.read_csv(path, delimiter=sep):
        columns = tuple(cell.strip() for cell in cells)
        layout = Layout("csv", columns, files.called(path), line)
        return Table(layout, partial(_csv_rows, path, sep))
    raise InputError("the file is empty", file=files.called(path))


def _json_lines(path: str) -> Table:
    name = files.called(path)
    try:
        line, first = next(files.read_json_lines(path, exact=True))
    except InputError as error:
        try:  # one object over many lines
            return _json(path, files.read_json(path, exact=True))
        except InputError:
            raise error from None

    def rows() -> Iterator[Row]:
        for number, keys in files.read_json_lines(path, exact=True):
            yield Row(name, number, keys, "jsonl")

    return Table(Layout("jsonl", tuple(first), name, line, first), rows)


def _json(path: str, value: Any) -> Table:
    """One object, or a list of them."""
    name = files.called(path)
    if isinstance(value, dict):
        row = Row(name, None, value, "json")
        return Table(Layout("json", tuple(value), name, None, value), lambda: iter([row]))
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise InputError("is no JSON object", file=f"{name}[{index}]", value=str(item)[:40])
    if not value:
        raise InputError("the list is empty", file=name)
    return _listed(path, "json", tuple(value[0]), value)


def _listed(
    path: str, kind: Kind, columns: tuple[str, ...], values: list[Mapping[str, object]]
) -> Table:
    name = files.called(path)

    def rows() -> Iterator[Row]:
        for index, keys in enumerate(values):
            yield Row(f"{name}[{index}]", None, keys, kind)

    return Table(Layout(kind, columns, name, None, values[0] if values else {}), rows)


def _csv_rows(path: str, sep: str) -> Iterator[Row]:
    header: tuple[str, ...] = ()
    name = files.called(path)
    for line, cells in files.read_csv(path, delimiter=sep):
        if header:
            yield Row(name, line, _paired(name, line, header, cells), "csv")
        else:
            header = _header(name, line, cells)


def _header(path: str, line: int, cells: list[str]) -> tuple[str, ...]:
    names = tuple(cell.strip() for cell in cells)
    for name in names:
        if names.count(name) > 1:
            raise InputError("a column is named twice", file=path, row=line, value=name)
    return names


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
