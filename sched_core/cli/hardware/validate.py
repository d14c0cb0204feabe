"""`schedfw hardware validate`: against a file of measured steps, or against real runs."""

from pathlib import Path

import attrs
import rich_click as click

from sched_core.calibration.measured_steps import Deviation, read_steps
from sched_core.calibration.real_runs import ROUNDS
from sched_core.catalogue.specs import build
from sched_core.cli.hardware import real_runs
from sched_core.cli.hardware.accuracy import errors, pricer
from sched_core.cli.hardware.options import (
    against_option,
    executor_option,
    model_option,
    refuse_unless_executor,
    spec_argument,
)
from sched_core.cli.output import Format, format_option, print_csv, print_json, print_table
from sched_core.errors import UsageError

_FIELDS = [field.name for field in attrs.fields(Deviation)]


@click.command("validate")
@spec_argument
@model_option
@against_option
@executor_option
@click.option("--policy", multiple=True, help="With --executor: may be repeated.")
@click.option("--workload", default=real_runs.WORKLOAD, help="With --executor.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=ROUNDS,
    help=f"With --executor: real runs of each policy, in turns. [default: {ROUNDS}]",
)
@format_option
def validate_command(
    spec: str,
    model: str,
    file: Path | None,
    executor: str | None,
    policy: tuple[str, ...],
    workload: str,
    rounds: int,
    style: Format,
) -> None:
    """The relative error of NAME's step times against measured ones, per kind of step.

    `error` is the mean of the absolute values, `bias` the mean with sign (above 0: priced too
    slow), `worst` the one furthest from 0.

    With --executor, NAME is a file written by `calibrate --out`: a workload is run for real and in
    simulation, at light load and at 1.5 times the most that can be served. `measured` is the median
    of the rounds, `error` how far the simulation is from it. Policies that ask for costs are told
    those of the file in both, unless the executor's spec says `costs=`.
    """
    refuse_unless_executor(executor, "policy", "workload", "rounds")
    if executor is not None:
        if file is not None:
            raise UsageError("--against and --executor say both what to measure against")
        real_runs.compare(spec, executor, model, policy, workload, rounds, style)
        return
    if file is None:
        raise UsageError("validate needs --against FILE, or --executor NAME")
    _against_file(spec, model, file, style)


def _against_file(spec: str, model: str, file: Path, style: Format) -> None:
    steps = read_steps(file)
    found = errors(steps, pricer(build("hardware", spec), model))
    if style == "json":
        setting = {"hardware": spec, "model": model, "against": str(file)}
        print_json(setting | {"kinds": [attrs.asdict(item) for item in found]})
    elif style == "csv":
        print_csv(_FIELDS, map(attrs.astuple, found))
    else:
        print_table(_FIELDS, map(_percentages, found))


def _percentages(item: Deviation) -> tuple[object, ...]:
    return (item.kind, item.rows, f"{item.error:.2%}", f"{item.bias:+.2%}", f"{item.worst:+.2%}")
