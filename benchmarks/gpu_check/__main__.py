"""The command: `bash benchmarks/gpu_check.sh`, or `python -m gpu_check` beside this package."""

import sys
import time
from pathlib import Path

import attrs
import rich_click as click

from gpu_check.check import CHECKS, Check, Setting
from gpu_check.machine import file_name
from gpu_check.process import Apart, Caller, Here
from gpu_check.report import Report

LIMIT = 450
"""Seconds for all checks: with the start, below eight minutes."""


@click.command()
@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".",
              help="Folder for the results.", show_default=True)  # fmt: skip
@click.option("--quick", is_flag=True, help="Seconds, on tiny models: tries the program, not the "
              "device. Always so on a CPU.")  # fmt: skip
def main(device: str, out: Path, quick: bool) -> None:
    """What only a CUDA device can show. Exits with 1 where a check fails, 2 without a device."""
    out.mkdir(parents=True, exist_ok=True)
    setting = Setting(device=device, quick=quick or device == "cpu", folder=out.resolve())
    caller = Apart() if setting.cuda else Here()
    try:
        report = conduct(setting, caller)
    finally:
        caller.close()
    report.print()
    click.echo(f"written: {report.path}")
    sys.exit(report.failed)


def conduct(setting: Setting, caller: Caller) -> Report:
    """Run all checks for which there is time."""
    started = time.monotonic()
    found = caller.call("gpu_check.machine:describe", setting, 60)
    if found.reason:
        raise click.ClickException(found.trace or found.reason)
    if found.value is None:
        raise click.UsageError("there is no CUDA device here; --device cpu tries the program")
    click.echo(", ".join(f"{key} {value}" for key, value in found.value.items()))
    name = file_name(found.value["name"], quick=setting.quick)
    setting = attrs.evolve(setting, name=name)
    report = Report(setting.file("json"), found.value, quick=setting.quick)
    for check in CHECKS:
        _run(check, setting, caller, report, LIMIT - (time.monotonic() - started))
    report.finish()
    return report


def _run(check: Check, setting: Setting, caller: Caller, report: Report, left: float) -> None:
    """One check, if all that it may take is left."""
    if left < check.seconds:
        report.skip(check, f"{left:.0f} s are left of {LIMIT}, and it may take {check.seconds}")
        return
    click.echo(f"{check.name}: {check.about} ... ", nl=False)
    began = time.monotonic()
    answer = caller.call(check.function, setting, check.seconds)
    report.add(check, answer, time.monotonic() - began)
    click.echo(report.checks[check.name]["result"])
    click.echo(answer.trace, nl=False, err=True)


if __name__ == "__main__":
    main()
