"""Figures as rows and policies as columns; or the other way round, where they are too many."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import attrs
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sched_core.cli.tables.cells import difference, label, value
from sched_core.reports.figures import Figure, averaged
from sched_core.reports.report import Report

GAP = 2
"""Blanks between columns."""

NARROW = 12
"""Characters of a heading's line, where figures are columns."""


def figure_tables(
    report: Report, figures: Sequence[Figure], headings: Mapping[str, str], page: Console
) -> Iterator[Table]:
    """The first policy's figures, and the others' with their differences to them.

    As one table; where that is wider than the page, a row for each policy, and as many tables as
    it takes for all figures. There the others' rows hold the differences alone.
    """
    cells = _Cells.of(report, figures)
    table = _by_figure(cells, figures, headings)
    if _width(table, page) <= page.width:
        yield table
        return
    part: list[Figure] = []
    for figure in figures:
        if part and _width(_by_policy(cells, [*part, figure], headings), page) > page.width:
            yield _by_policy(cells, part, headings)
            part = []
        part.append(figure)
    yield _by_policy(cells, part, headings)


@attrs.frozen
class _Cells:
    """All that a table may hold."""

    values: Mapping[str, Mapping[Figure, str]]
    """By policy, the first one first."""
    differences: Mapping[str, Mapping[Figure, Text]]
    """Of the others."""

    @classmethod
    def of(cls, report: Report, figures: Sequence[Figure]) -> "_Cells":
        several = report.seeds > 1
        values = {
            policy: {one: value(one, averaged(one, runs), mean=several) for one in figures}
            for policy, runs in report.summaries.items()
        }
        found: dict[str, dict[Figure, Text]] = {}
        for one in report.differences(figures):
            found.setdefault(one.policy, {})[one.figure] = difference(one, paired=several)
        return cls(values, found)

    def of_policy(self, policy: str, figure: Figure) -> Text:
        """The only cell of a policy in a table where figures are columns."""
        if policy not in self.differences:
            return Text(self.values[policy][figure])
        found = self.differences[policy][figure]
        same = self.values[policy][figure] == next(iter(self.values.values()))[figure]
        return found if found or same else Text(self.values[policy][figure])


def _by_figure(cells: _Cells, figures: Sequence[Figure], headings: Mapping[str, str]) -> Table:
    table = _table("")
    for policy in cells.values:
        table.add_column(Text(headings[policy]), justify="right", vertical="bottom", no_wrap=True)
        if policy in cells.differences:
            table.add_column("", justify="right", no_wrap=True)
    for figure in figures:
        row = [Text(label(figure))]
        for policy, values in cells.values.items():
            row.append(Text(values[figure]))
            if policy in cells.differences:
                row.append(cells.differences[policy][figure])
        table.add_row(*row)
    return table


def _by_policy(cells: _Cells, figures: Sequence[Figure], headings: Mapping[str, str]) -> Table:
    table = _table("")
    for figure in figures:
        heading = Text("\n".join(_narrow(figure)))
        table.add_column(heading, justify="right", vertical="bottom", no_wrap=True)
    for policy in cells.values:
        row = [cells.of_policy(policy, figure) for figure in figures]
        table.add_row(Text(headings[policy].replace("\n", "")), *row)
    return table


def _narrow(figure: Figure) -> list[str]:
    return textwrap.wrap(label(figure), NARROW)


def _table(first: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP // 2))
    table.add_column(first, no_wrap=True)
    return table


def _width(table: Table, page: Console) -> int:
    return Measurement.get(page, page.options.update(max_width=10**6), table).maximum
