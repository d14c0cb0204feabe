"""Trace files as rows, CSV and JSON lines alike.

Tolerated: CRLF, a byte-order mark, blank lines, no newline at the end. Everything else that does
not fit raises one InputError naming file, line and what was found.
"""

from collections.abc import Iterator

from sched_core import InputError, files
from sched_plugins.workloads.traces.rows import Kind, Layout, Row


def read_layout(path: str) -> Layout:
    """Kind and columns, from the first line that is not blank."""
    _, text = next(files.read_lines(path), (0, ""))
    if text.lstrip().startswith(("{", "[")):
        for line, keys in files.read_json_lines(path):
            return Layout("jsonl", tuple(keys), path, line)
    for line, cells in files.read_csv(path):
        return Layout("csv", _stripped(cells), path, line)
    raise InputError("the file is empty", file=path)


def read_rows(path: str, kind: Kind) -> Iterator[Row]:
    """The rows in file order, read as they are asked for."""
    return _csv_rows(path) if kind == "csv" else _json_rows(path)


def _csv_rows(path: str) -> Iterator[Row]:
    header: tuple[str, ...] = ()
    for line, cells in files.read_csv(path):
        if header:
            yield Row(path, line, _paired(path, line, header, cells), "csv")
        else:
            header = _header(path, line, cells)


def _json_rows(path: str) -> Iterator[Row]:
    for line, keys in files.read_json_lines(path, exact=True):
        yield Row(path, line, keys, "jsonl")


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
