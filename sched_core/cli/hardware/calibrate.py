"""`schedfw hardware calibrate`: to a file of measured steps, or to steps that are run here."""

from pathlib import Path

import rich_click as click

from sched_core.cli.hardware.fit import fit
from sched_core.cli.hardware.measure import measure
from sched_core.cli.hardware.options import (
    against_option,
    executor_option,
    model_option,
    refuse_unless_executor,
)
from sched_core.cli.output import Format, format_option
from sched_core.errors import UsageError


@click.command("calibrate")
@click.argument("spec", metavar="[NAME]", required=False)
@model_option
@against_option
@executor_option
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="With --executor.")
@click.option(
    "--steps",
    type=click.IntRange(min=10),
    default=100,
    help="With --executor: steps to fit to. [default: 100]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    help="With --executor: runs of each step. [default: 5]",
)
@format_option
def calibrate_command(
    spec: str | None,
    model: str,
    file: Path | None,
    executor: str | None,
    out: Path | None,
    steps: int,
    repeats: int,
    style: Format,
) -> None:
    """The constants of NAME that come closest to measured step times.

    `error` is that of the rows fitted. `left out` prices each row by a fit to the two thirds of
    the rows that do not hold it, which is what to expect of rows that are not in the file.

    With --executor random mixed steps are run and timed here, and a linear price fitted to them is
    written to --out, for `--hardware measured:path=FILE`.
    """
    refuse_unless_executor(executor, "out", "steps", "repeats")
    if executor is not None:
        if file is not None or spec is not None:
            raise UsageError("calibrate --executor measures by itself: no NAME, no --against")
        if out is None:
            raise UsageError("calibrate --executor needs --out FILE")
        measure(executor, model, out, steps=steps, repeats=repeats)
        return
    if spec is None or file is None:
        raise UsageError(
            "calibrate needs NAME and --against FILE, or --executor NAME and --out FILE"
        )
    fit(spec, model, file, style)
