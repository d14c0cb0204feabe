"""A report on stdout: tables that fit the terminal, JSON, or CSV."""

import json
from collections.abc import Iterator

import rich_click as click
from rich.markup import escape
from rich.table import Table

from sched_core.cli.output import Format, console, print_csv
from sched_core.cli.tables.figures import difference_tables, summary_tables
from sched_core.reports.differences import CONFIDENCE
from sched_core.reports.report import Report
from sched_core.reports.setting import setting_texts


def print_report(report: Report, style: Format) -> None:
    """JSON holds everything; CSV one row per request, policy and seed."""
    if style == "json":
        click.echo(json.dumps(report.document(), allow_nan=False))
    elif style == "csv":
        _print_records(report)
    else:
        _print_tables(report)


def _print_records(report: Report) -> None:
    rows = [
        {"policy": result.policy, "seed": result.seed, **record}
        for result in report.results
        for record in result.requests
    ]
    print_csv(list(rows[0]), (list(row.values()) for row in rows))


def _print_tables(report: Report) -> None:
    page = console()
    headings, seeds = _headings(report), report.seeds
    page.print(_setting(report))
    if seeds > 1:
        page.print(f"\nmean over {seeds} seeds")
    page.print(*summary_tables(report.summaries, headings, page.width))
    if seeds > 1 and len(headings) > 1:
        first = escape(report.results[0].label)
        page.print(f"difference to {first}: mean and {CONFIDENCE:.0%} interval, paired by seed")
        page.print(*difference_tables(report.differences(), headings, page.width))
    for note in _notes(report):
        page.print(f"* {note}")


def _setting(report: Report) -> Table:
    """A line for each fact; long texts fold."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in setting_texts(report.setting).items():
        grid.add_row(name, escape(text))
    return grid


def _headings(report: Report) -> dict[str, str]:
    """Column -> its components below each other, a star where it knows what it cannot know."""
    oracles = {result.label for result in report.results if result.oracle}
    return {
        label: label.replace("+", "\n+").replace(" (", "\n(") + " *" * (label in oracles)
        for label in report.summaries
    }


def _notes(report: Report) -> Iterator[str]:
    if any(result.oracle for result in report.results):
        yield "sees the true output lengths (oracle): a bound, not a policy to deploy"
    if any(result.summary["unfinished"] + result.summary["aborted"] for result in report.results):
        yield "latencies are of finished requests; ITL pools the gaps of all that got a token"
