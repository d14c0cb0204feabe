"""Figures as rows, policies as columns, in tables no wider than a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from sched_core.reports.differences import Difference
from sched_core.reports.figures import Figure, figures_of

GAP = 2
"""Blanks between columns."""

NOTHING = "-"
"""The cell of a figure that is not defined."""

Columns = Mapping[str, Sequence[str]]
"""Heading -> a cell per row; a heading may have several lines."""


def summary_tables(
    summaries: Mapping[str, Sequence[Mapping[str, Any]]], headings: Mapping[str, str], width: int
) -> Iterator[Table]:
    """Each policy's figures, averaged over the seeds."""
    figures = figures_of(one for runs in summaries.values() for one in runs)
    columns = {
        headings[policy]: [_averaged(figure, runs) for figure in figures]
        for policy, runs in summaries.items()
    }
    return _paged([_label(figure) for figure in figures], columns, width)


def _averaged(figure: Figure, runs: Sequence[Mapping[str, Any]]) -> str:
    values = [value for run in runs if (value := figure.of(run)) is not None]
    decimals = figure.decimals or int(len(values) > 1)  # a mean of counts is no count
    return f"{fmean(values) * figure.scale:,.{decimals}f}" if values else NOTHING


def difference_tables(
    differences: Sequence[Difference], headings: Mapping[str, str], width: int
) -> Iterator[Table]:
    """What each policy changes against the first one, and whether that is more than noise."""
    columns: dict[str, list[str]] = {}
    for difference in differences:
        columns.setdefault(headings[difference.policy], []).append(_difference(difference))
    labels = list(dict.fromkeys(_label(difference.figure) for difference in differences))
    return _paged(labels, columns, width)


def _difference(difference: Difference) -> str:
    figure = difference.figure
    decimals = figure.decimals or 1
    if difference.mean is None:
        return NOTHING
    cell = f"{difference.mean * figure.scale:+,.{decimals}f}"
    if difference.high is not None:
        half = (difference.high - difference.mean) * figure.scale
        cell += f" ±{half:,.{decimals}f}"
    return f"{cell} {difference.verdict}" if difference.verdict else cell


def _label(figure: Figure) -> str:
    return f"{figure.label} ({figure.unit})" if figure.unit else figure.label


def _paged(labels: Sequence[str], columns: Columns, width: int) -> Iterator[Table]:
    """As many tables as it takes for every column to keep its width."""
    left = max(len(label) for label in labels)
    page: dict[str, Sequence[str]] = {}
    room = width - left
    for heading, cells in columns.items():
        need = GAP + max(len(line) for line in (*heading.split("\n"), *cells))
        if page and need > room:
            yield _table(labels, page)
            page, room = {}, width - left
        page[heading] = cells
        room -= need
    yield _table(labels, page)


def _table(labels: Sequence[str], columns: Columns) -> Table:
    """Rows in which no policy has anything are left out."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP // 2))
    table.add_column("")
    for heading in columns:
        table.add_column(escape(heading), justify="right", vertical="bottom", no_wrap=True)
    for label, *cells in zip(labels, *columns.values(), strict=True):
        if set(cells) != {NOTHING}:
            table.add_row(escape(label), *cells)
    return table
