"""`--ticks`: a line per step, a column per request where they fit the terminal."""

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from sched_core.cli.output import console
from sched_core.watchers.ticks import LEGEND, Tick

MOST_COLUMNS = 10
"""Requests that get a column of their own; with more of them each step is told in one cell."""


def print_ticks(ticks: Sequence[Tick], answered: dict[str, list[str]]) -> None:
    """The steps, the legend, and which components had a say."""
    names = list(dict.fromkeys(name for tick in ticks for name in tick.cells))
    columns = names if len(names) <= MOST_COLUMNS else []
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("step", "time (s)", "budget left", "blocks free"):
        table.add_column(heading, justify="right")
    for heading in columns or ["requests"]:
        table.add_column(escape(heading))
    table.add_column("what happened")
    for tick in ticks:
        table.add_row(*(escape(cell) for cell in _row(tick, columns)))
    page = console()
    page.print(table, LEGEND, sep="\n")
    for hook, components in answered.items():
        page.print(f"{hook}: {', '.join(components)}", markup=False)
    page.print()


def _row(tick: Tick, columns: Sequence[str]) -> list[str]:
    numbers = [str(tick.step), f"{tick.time:g}", str(tick.budget_left), str(tick.free_blocks)]
    if columns:
        cells = [tick.cells.get(name, "") for name in columns]
    else:
        cells = [" ".join(f"{name}:{did}" for name, did in tick.cells.items() if did != "w")]
    return [*numbers, *cells, "; ".join(tick.events)]
