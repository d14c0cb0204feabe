"""`--executor torch --device cuda` and `--replay-times FILE`: other words for `--hardware`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from sched_core.catalogue.specs import shown
from sched_core.errors import InputError, UsageError
from sched_core.execution.executor import record_of
from sched_core.experiment.prepare import Prepared

EXECUTOR_OPTIONS: list[Callable[[Any], Any]] = [
    click.option(
        "--executor",
        metavar="SPEC",
        help="Run a real model, such as torch or torch:threads=1, in place of --hardware.",
    ),
    click.option("--device", metavar="NAME", help="Of --executor: cpu, cuda or cuda:NUMBER."),
    click.option(
        "--replay-times",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Run in the step times that run --record-times wrote, in place of --hardware.",
    ),
]


def with_hardware(keys: dict[str, Any]) -> dict[str, Any]:
    """The options with these spelt as a hardware; raises UsageError where two contradict."""
    executor, device = keys.pop("executor", None), keys.pop("device", None)
    replay = keys.pop("replay_times", None)
    given = [name for name in ("hardware",) if name in keys]
    given += ["executor"] * (executor is not None) + ["replay-times"] * (replay is not None)
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} say both what the steps run on")
    if device is not None and executor is None:
        raise UsageError("--device is for --executor")
    if device == "":
        raise UsageError("--device is empty; expected cpu, cuda or cuda:NUMBER")
    if executor is not None:
        keys["hardware"] = executor + (f":device={device}" if device else "")
    if replay is not None:
        keys["hardware"] = f"schedfw/recorded:path={replay}"
    return keys


def refuse_unrecordable(prepared: Prepared) -> None:
    """Raise UsageError where `--record-times` would write nothing that can be replayed."""
    name = shown(prepared.cells[0].scenario.hardware)
    if prepared.modelled:
        raise UsageError(
            f"--record-times is for steps that are run; {name!r} prices them, "
            "and prices them alike every time"
        )
    try:
        record_of(prepared.executor.costs)
    except InputError as error:
        raise UsageError(f"--record-times is not for {name!r}: {error}") from None
