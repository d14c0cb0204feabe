"""Where the time of long runs went, on stderr."""

import rich_click as click

from sched_core.reports.report import Report


def print_times(report: Report) -> None:
    """A line for each policy whose longest run took long."""
    longest: dict[str, tuple[float, str]] = {}
    for result in report.results:
        if spent := result.time_spent:
            line = (spent.seconds, str(spent))
            longest[result.label] = max(line, longest.get(result.label, line))
    for label, (_, text) in longest.items():
        click.echo(f"schedfw: time: {label}: {text}", err=True)
