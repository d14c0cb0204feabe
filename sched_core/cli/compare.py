"""`schedfw compare`: several policies over the same workload."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import rich_click as click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sched_core.catalogue.specs import shown
from sched_core.cli.completion import POLICIES
from sched_core.cli.output import Format, format_option
from sched_core.cli.scenario_options import chosen, scenario_options
from sched_core.cli.tables.report import print_report
from sched_core.cli.tables.shown import shown_by, shown_options
from sched_core.cli.tables.times import print_times
from sched_core.cli.whole_file import output_option, printed_to
from sched_core.config import batching_mode
from sched_core.errors import InputError
from sched_core.experiment import experiment
from sched_core.experiment.prepare import prepare
from sched_core.limits import Numbers
from sched_core.reports.differences import SMALLEST_EFFECT
from sched_core.reports.report import Result


@click.command()
@click.option(
    "--policies",
    type=POLICIES,
    required=True,
    multiple=True,
    metavar="A,B,...",
    help="Separated by commas, or given several times; the first is the baseline.",
)
@scenario_options("batching")
@click.option(
    "--batching",
    metavar="MODE,...",
    help="continuous, static or padded; several are compared. [default: continuous]",
)
@click.option("--seeds", type=int, default=1, show_default=True, help="Repeat over so many seeds.")
@click.option(
    "--jobs", type=int, default=1, show_default=True, help="Processes; -1 is one per core."
)
@click.option(
    "--smallest-effect",
    type=float,
    default=100 * SMALLEST_EFFECT,
    show_default=True,
    metavar="PERCENT",
    help="Less than this, relative to the first policy, is no difference.",
)
@shown_options
@format_option
@output_option
def compare(
    file: Path | None,
    policies: tuple[str, ...],
    batching: str | None,
    seeds: int,
    jobs: int,
    smallest_effect: float,
    style: Format,
    output: Path | None,
    **given: Any,
) -> None:
    """Compare policies on the SCENARIO file, or on what the options say."""
    extent = shown_by(given)
    extent.refuse_unless_table(style)
    PERCENT.require(smallest_effect, "--smallest-effect")
    scenario = chosen(file, given)
    modes = [batching_mode(mode) for mode in _listed([batching or ""])]
    prepared = prepare(scenario, _listed(policies), seeds, modes)
    extent.refuse_unknown(prepared)
    if jobs != 1 and not prepared.modelled:
        raise InputError(
            f"steps of {shown(scenario.hardware)!r} may be run for real, and side by side they "
            "would disturb each other",
            field="jobs",
            value=jobs,
            expected="1",
        )
    with printed_to(output):
        with _progress(len(prepared.cells)) as advance:
            report = experiment.run_all(prepared, jobs=jobs, on_result=advance)
        report = attrs.evolve(report, smallest_effect=smallest_effect / 100)
        print_report(report, style, extent)
    print_times(report)


PERCENT = Numbers(0, 100, "per cent")


def _listed(options: Sequence[str]) -> list[str]:
    return [name.strip() for given in options for name in given.split(",") if name.strip()]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Result], None] | None]:
    """A bar on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
    with bar:
        task = bar.add_task("runs", total=total)
        yield lambda _result: bar.advance(task)
