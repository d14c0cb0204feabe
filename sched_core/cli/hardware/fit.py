"""Constants fitted to a file of measured steps: `schedfw hardware calibrate --against`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from sched_core.calibration.measured_steps import (
    Deviation,
    MeasuredStep,
    Pricer,
    deviations,
    price_left_out,
    read_steps,
)
from sched_core.catalogue.specs import build
from sched_core.cli.hardware.accuracy import errors, pricer
from sched_core.cli.output import Format, print_csv, print_json, print_table
from sched_core.errors import UsageError
from sched_core.execution.hardware import Calibrated


def fit(spec: str, model: str, file: Path, style: Format) -> None:
    """Print the constants, their errors on the rows fitted, and those on rows left out."""
    instance, steps = build("hardware", spec), read_steps(file)
    if not isinstance(instance, Calibrated):
        raise UsageError(f"hardware {spec!r} has no constants that could be fitted")
    constants, fitted, left_out = _fitted(instance, model, steps)
    if style == "json":
        found = {"fitted": fitted, "left_out": left_out}
        listed = {key: [attrs.asdict(item) for item in items] for key, items in found.items()}
        print_json({"constants": constants} | listed)
    elif style == "csv":
        print_csv(["constant", "value"], constants.items())
    else:
        print_table(["constant", "value"], constants.items())
        pairs = zip(fitted, left_out, strict=True)
        print_table(
            ["kind", "rows", "error", "left out"],
            ((a.kind, a.rows, f"{a.error:.2%}", f"{b.error:.2%}") for a, b in pairs),
        )


def _fitted(
    instance: Calibrated, model: str, steps: Sequence[MeasuredStep]
) -> tuple[dict[str, float], list[Deviation], list[Deviation]]:
    """The constants fitted to `steps`, their errors there, and the errors on thirds left out."""

    def constants_of(some: Sequence[MeasuredStep]) -> dict[str, float]:
        return instance.calibrate(model, [s.load for s in some], [s.seconds for s in some])

    def priced_with(constants: Mapping[str, float]) -> Pricer:
        return pricer(attrs.evolve(instance, **constants), model)  # type: ignore[misc]

    constants = constants_of(steps)
    left_out = price_left_out(lambda some: priced_with(constants_of(some)), steps)
    return constants, errors(steps, priced_with(constants)), deviations(steps, left_out)
