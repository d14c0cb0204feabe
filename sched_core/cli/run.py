"""`schedfw run`: one policy over one workload."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import rich_click as click

from sched_core.cli.output import Format, format_option
from sched_core.cli.results import print_report
from sched_core.cli.scenario_options import chosen, scenario_options
from sched_core.cli.whole_file import output_option, printed_to, whole_file
from sched_core.decisions import writer
from sched_core.experiment import simulate


@click.command()
@scenario_options
@click.option("--policy", metavar="SPEC", help="Such as priority:aging=30+adaptive.")
@click.option(
    "--decisions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write one JSON line per step here.",
)
@format_option
@output_option
def run(
    file: Path | None, decisions: Path | None, style: Format, output: Path | None, **given: Any
) -> None:
    """Run one policy: the SCENARIO file, or what the options say."""
    scenario = chosen(file, given)
    with printed_to(output):
        with whole_file(decisions) if decisions else nullcontext() as lines:
            report = simulate(scenario, watch=writer(lines.write) if lines else None)
        print_report(report, style)
