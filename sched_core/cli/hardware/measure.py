"""Steps timed on this machine: `schedfw hardware calibrate --executor`."""

from pathlib import Path

from sched_core.catalogue.specs import build
from sched_core.cli.whole_file import whole_file
from sched_core.errors import UsageError
from sched_core.execution.hardware import Measurable


def measure(executor: str, model: str, out: Path, *, steps: int, repeats: int) -> None:
    """Measure this machine into the file `out`, and print what is there."""
    instance = build("hardware", executor)
    if not isinstance(instance, Measurable):
        raise UsageError(f"hardware {executor!r} runs no steps of its own that could be timed")
    with whole_file(out) as file:
        text = instance.measure(model, steps=steps, repeats=repeats)
        file.write(text)
    print(text, end="")
