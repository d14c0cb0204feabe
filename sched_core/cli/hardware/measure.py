"""Steps timed on this machine: `schedfw hardware calibrate --executor`."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from sched_core.catalogue.specs import build
from sched_core.cli.whole_file import whole_file
from sched_core.errors import UsageError


@runtime_checkable
class Measurable(Protocol):
    """Hardware that can time steps of its own: an optional part of a plugin."""

    def measure(self, model: str, *, steps: int, repeats: int) -> str:
        """Time `steps` random mixed steps, and as many for a check, each `repeats` times; returns
        the text of a TOML file that `measured:path=FILE` reads."""


def measure(executor: str, model: str, out: Path, *, steps: int, repeats: int) -> None:
    """Measure this machine into the file `out`, and print what is there."""
    instance = build("hardware", executor)
    if not isinstance(instance, Measurable):
        raise UsageError(f"hardware {executor!r} runs no steps of its own that could be timed")
    with whole_file(out) as file:
        text = instance.measure(model, steps=steps, repeats=repeats)
        file.write(text)
    print(text, end="")
