"""A report on stdout: a first screen or all of it, JSON, or CSV."""

import json
from collections.abc import Iterator

import rich_click as click
from rich.table import Table
from rich.text import Text

from sched_core.cli.output import Format, Page, print_csv
from sched_core.cli.tables.cells import with_unit
from sched_core.cli.tables.figures import figure_tables
from sched_core.cli.tables.load import load_text
from sched_core.cli.tables.shown import Shown
from sched_core.reports.differences import CONFIDENCE
from sched_core.reports.figures import Figure, averaged, chosen_figures, figures_of
from sched_core.reports.report import Report
from sched_core.reports.setting import setting_texts, short_texts
from sched_core.reports.story import Story, story


def print_report(report: Report, style: Format, shown: Shown) -> None:
    """JSON holds everything; CSV one row per request, policy, mode and seed."""
    if style == "json":
        click.echo(json.dumps(report.document(), allow_nan=False))
    elif style == "csv":
        _print_records(report)
    else:
        _print_tables(report, shown)


def _print_records(report: Report) -> None:
    modes = len(report.setting["batching"]) > 1
    rows = [
        {
            "policy": result.policy,
            **({"batching": result.batching} if modes else {}),
            "seed": result.seed,
            **record,
        }
        for result in report.results
        for record in result.requests
    ]
    print_csv(list(rows[0]), (list(row.values()) for row in rows))


def _print_tables(report: Report, shown: Shown) -> None:
    page, told = Page(), _told(report, shown)
    texts = (setting_texts if shown.verbose else short_texts)(report.setting)
    page.show(_setting(texts | {"load": load_text(report)}))
    if report.seeds > 1:
        page.show(f"\n{_seeds(report)}")
    page.show("")
    for number, table in enumerate(figure_tables(report, told.rows, _headings(report), page)):
        page.show(*[""] * (number > 0), table)
    for line in _notes(report, told, shown):
        page.show(line)


def _told(report: Report, shown: Shown) -> Story:
    if shown.figures:
        return Story(chosen_figures(shown.figures, _summaries(report)), [])
    if shown.everything:
        return Story([one for one in figures_of(_summaries(report)) if _defined(report, one)], [])
    return story(report.summaries, report.smallest_effect)


def _summaries(report: Report) -> list[dict[str, object]]:
    return [result.summary for result in report.results]


def _defined(report: Report, figure: Figure) -> bool:
    return any(figure.of(result.summary) is not None for result in report.results)


def _setting(texts: dict[str, str]) -> Table:
    """A line for each fact, more where it is long: it says what makes the results."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in texts.items():
        grid.add_row(name, Text(text))
    return grid


def _seeds(report: Report) -> str:
    text = f"means over {report.seeds} seeds"
    if len(report.summaries) == 1:
        return text
    first = report.results[0].label
    return f"{text}; differences to {first} with {CONFIDENCE:.0%} intervals, paired by seed"


def _headings(report: Report) -> dict[str, str]:
    """Column -> its components below each other, a star where it knows what it cannot know."""
    oracles = {result.label for result in report.results if result.oracle}
    return {
        label: label.replace("+", "\n+").replace(" (", "\n(") + " *" * (label in oracles)
        for label in report.summaries
    }


def _notes(report: Report, told: Story, shown: Shown) -> Iterator[Text]:
    if told.same:
        first = next(iter(report.summaries.values()))
        texts = [with_unit(one, averaged(one, first), mean=len(first) > 1) for one in told.same]
        yield Text(f"the same: {', '.join(texts)}", "dim")
    if any(result.oracle for result in report.results):
        yield Text("* sees the true output lengths (oracle): a bound, not a policy to deploy")
    if any(result.summary["unfinished"] + result.summary["aborted"] for result in report.results):
        yield Text("latencies are of finished requests; ITL pools the gaps of all that got a token")
    if more := _more(report, told, shown):
        yield Text(more, "dim")


def _more(report: Report, told: Story, shown: Shown) -> str:
    """What the options would add."""
    known = [one for one in figures_of(_summaries(report)) if _defined(report, one)]
    hidden = len([one for one in known if one not in told.rows])
    asked = shown.everything or shown.figures
    parts = [f"--all shows {hidden} more figures"] if hidden and not asked else []
    if report.seeds == 1 and len(report.summaries) > 1 and not shown.figures:
        parts.append("--seeds 5 tells effects from noise")
    return "; ".join(parts)
