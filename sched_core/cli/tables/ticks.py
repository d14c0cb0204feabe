"""`--ticks`: a line per step, a column per request where they fit the terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf

import attrs
from rich.markup import escape
from rich.table import Table

from sched_core.cli.output import console
from sched_core.errors import InputError, UnknownName
from sched_core.watchers.ticks import LEGEND, Tick

MOST_COLUMNS = 10
"""Requests that get a column of their own; with more of them each step is told in one cell."""


ALIKE = 3
"""So many steps in a row that show the same, or more, are told in one line."""


def chosen_ticks(ticks: Sequence[Tick], steps: str | None, only: Sequence[str]) -> list[Tick]:
    """Those of the steps `FROM..TO`, both ends included, with the cells of the requests `only`.

    Raises InputError for what is no range, and for a request that is in none of them.
    """
    first, last = _range(steps)
    kept = [tick for tick in ticks if first <= tick.step <= last]
    seen = {name for tick in ticks for name in tick.cells}
    for name in only:
        if name not in seen:
            raise UnknownName("request", name, seen, where="--only")
    if not only:
        return kept
    return [
        attrs.evolve(tick, cells={name: tick.cells[name] for name in only if name in tick.cells})
        for tick in kept
    ]


def _range(steps: str | None) -> tuple[int, float]:
    if steps is None:
        return 0, inf
    low, dots, high = steps.partition("..")
    if not dots or not (low or high) or not all(end.isdecimal() for end in (low, high) if end):
        raise InputError(
            "no range", field="--steps", value=steps, expected="FROM..TO, such as 0..40 or 100.."
        )
    return int(low or 0), float(high) if high else inf


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
    for row in _folded(ticks, columns):
        table.add_row(*(escape(cell) for cell in row))
    page = console()
    page.print(table, LEGEND, sep="\n")
    for hook, components in answered.items():
        page.print(f"{hook}: {', '.join(components)}", markup=False)
    page.print()


def _folded(ticks: Sequence[Tick], columns: Sequence[str]) -> Iterator[list[str]]:
    """A row for each step; for ALIKE and more that show the same, their first and how many."""
    for _, group in groupby(ticks, key=lambda tick: (tick.cells, tick.events)):
        alike = list(group)
        rows = [_row(tick, columns) for tick in alike]
        if len(alike) < ALIKE:
            yield from rows
        else:
            told = f"{len(alike)} steps alike, to {alike[-1].step}"
            yield [*rows[0][:-1], "; ".join(filter(None, (rows[0][-1], told)))]


def _row(tick: Tick, columns: Sequence[str]) -> list[str]:
    numbers = [str(tick.step), f"{tick.time:g}", str(tick.budget_left), str(tick.free_blocks)]
    if columns:
        cells = [tick.cells.get(name, "") for name in columns]
    else:
        cells = [" ".join(f"{name}:{did}" for name, did in tick.cells.items() if did != "w")]
    return [*numbers, *cells, "; ".join(tick.events)]
