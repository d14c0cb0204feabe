"""How every command prints: `--format`, JSON, CSV, and tables at a plain width."""

import csv
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Literal

import rich_click as click
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table

Format = Literal["table", "json", "csv"]

format_option = click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print.",
)


WIDTH = 100
"""Columns where the output is no terminal."""


def console() -> Console:
    """Where tables go: as wide as the terminal, plain and WIDTH wide elsewhere."""
    found = Console(highlight=False)
    if not found.is_terminal:
        found.width = WIDTH
    return found


UNBOUNDED = 10_000


class Page(Console):
    """Where reports go: as wide as the terminal; elsewhere plain, without blanks at the ends of
    lines, and as wide as it takes, or as COLUMNS says."""

    def __init__(self) -> None:
        super().__init__(highlight=False)
        if not self.is_terminal:
            columns = os.environ.get("COLUMNS", "")
            self.width = int(columns) if columns.isdecimal() and int(columns) else UNBOUNDED

    def show(self, *things: RenderableType) -> None:
        """Print them, one below the other."""
        if self.is_terminal:
            self.print(*things, sep="\n")
            return
        with self.capture() as captured:
            self.print(*things, sep="\n")
        for line in captured.get().splitlines():
            click.echo(line.rstrip())


def print_json(value: object) -> None:
    """Indented JSON without NaN; a value that JSON has no form for is its text."""
    click.echo(json.dumps(value, indent=2, allow_nan=False, default=str))


def print_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A header and rows; None is an empty cell."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns without rules, the first one bold, numbers to the right; an empty line follows."""
    cells = [tuple(row) for row in rows]
    table = Table(box=None, pad_edge=False, show_header=any(header))
    for index, name in enumerate(header):
        numbers = any(isinstance(row[index], int | float) for row in cells)
        table.add_column(name, justify="right" if numbers else "left", style="bold" * (not index))
    for row in cells:
        table.add_row(*(escape(plain(cell)) for cell in row))
    console().print(table, "")


def plain(value: object) -> str:
    """A cell: `-` for None, six digits of a float."""
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
