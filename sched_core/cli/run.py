"""`schedfw run`: one policy over one workload."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

import rich_click as click

from sched_core.cli.completion import POLICY
from sched_core.cli.executor_options import refuse_unrecordable
from sched_core.cli.output import Format, format_option
from sched_core.cli.scenario_options import chosen, scenario_options
from sched_core.cli.tables.report import print_report
from sched_core.cli.tables.shown import shown_by, shown_options
from sched_core.cli.tables.ticks import chosen_ticks, print_ticks
from sched_core.cli.tables.times import print_times
from sched_core.cli.whole_file import output_option, printed_to, whole_file
from sched_core.errors import UsageError
from sched_core.execution.step_record import Watcher
from sched_core.experiment import experiment
from sched_core.experiment.prepare import prepare
from sched_core.watchers.decision_trace import DecisionTrace
from sched_core.watchers.step_times import StepTimes
from sched_core.watchers.ticks import Ticks


@click.command()
@scenario_options()
@click.option("--policy", type=POLICY, metavar="SPEC", help="Such as priority:aging=30+adaptive.")
@click.option(
    "--decisions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write one JSON line per step here.",
)
@click.option(
    "--record-times",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write how long each step took here, for --replay-times.",
)
@click.option("--ticks", is_flag=True, help="Print what each request did in every step.")
@click.option("--steps", metavar="FROM..TO", help="Of --ticks, these steps.")
@click.option("--only", multiple=True, metavar="ID", help="Of --ticks, this request.")
@shown_options
@format_option
@output_option
def run(
    file: Path | None,
    decisions: Path | None,
    record_times: Path | None,
    ticks: bool,
    steps: str | None,
    only: tuple[str, ...],
    style: Format,
    output: Path | None,
    **given: Any,
) -> None:
    """Run one policy: the SCENARIO file, or what the options say."""
    if ticks and style != "table":
        raise UsageError(f"--ticks prints a table; with --format {style} use --decisions FILE")
    if (steps or only) and not ticks:
        raise UsageError("--steps and --only say which --ticks to print")
    extent = shown_by(given)
    extent.refuse_unless_table(style)
    scenario = chosen(file, given)
    prepared = prepare(scenario, [scenario.policy])
    extent.refuse_unknown(prepared)
    if record_times:
        refuse_unrecordable(prepared)
    with printed_to(output):
        with _written(decisions) as lines, _written(record_times) as times:
            seen = Ticks()
            watchers: list[Watcher] = [seen] if ticks else []
            watchers += [DecisionTrace.written(lines.write)] if lines else []
            watchers += [StepTimes(times.write)] if times else []
            report = experiment.run(prepared, watchers=watchers)
        if ticks:
            print_ticks(chosen_ticks(seen.ticks, steps, only), report.results[0].components)
        print_report(report, style, extent)
    print_times(report)


def _written(path: Path | None) -> AbstractContextManager[IO[str] | None]:
    return whole_file(path) if path else nullcontext()
