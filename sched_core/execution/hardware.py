"""What an entry point of group `schedfw.hardware` names, and what it may offer besides."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sched_core.execution.executor import Executor
from sched_core.execution.load import StepLoad


@runtime_checkable
class Hardware(Protocol):
    """What an entry point of group `schedfw.hardware` names: an attrs class whose fields are its
    parameters (`a100:ec=0.8`)."""

    def executor(self, model: str | None, *, block_size: int) -> Executor:
        """An executor for `model`: a name of `models.toml`, a path to a Hugging Face
        `config.json`, or None where the hardware needs no model.

        Raises UnknownName or InputError when the model is unknown or cannot be read.
        """


@runtime_checkable
class Described(Hardware, Protocol):
    """Hardware that says more of itself than its parameters: an optional part."""

    def describe(self) -> dict[str, object]:
        """For `hardware list` and `show`: plain JSON values. Those of `memory` (bytes),
        `bandwidth` (bytes/s) and `efficiencies` (where the constants come from) have a column."""


@runtime_checkable
class Calibrated(Hardware, Protocol):
    """Hardware that can fit its constants to measured steps: an optional part."""

    def calibrate(
        self, model: str, loads: Sequence[StepLoad], seconds: Sequence[float]
    ) -> dict[str, float]:
        """Parameter -> the value under which `loads` are priced closest to `seconds`."""


@runtime_checkable
class Measurable(Hardware, Protocol):
    """Hardware that can time steps of its own: an optional part."""

    def measure(self, model: str, *, steps: int, repeats: int) -> str:
        """Time `steps` random mixed steps, and as many for a check, each `repeats` times; returns
        the text of a TOML file that `measured:path=FILE` reads."""
