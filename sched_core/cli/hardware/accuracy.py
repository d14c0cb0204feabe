"""How far a hardware's prices are from measured steps."""

from collections.abc import Sequence

from sched_core.calibration.measured_steps import Deviation, MeasuredStep, Pricer, deviations
from sched_core.config import EngineConfig
from sched_core.execution.hardware import Hardware


def pricer(instance: Hardware, model: str) -> Pricer:
    """What steps of `model` cost on it, in blocks of the engine's default size."""
    return instance.executor(model, block_size=EngineConfig().block_size).costs.step


def errors(steps: Sequence[MeasuredStep], price: Pricer) -> list[Deviation]:
    """Of `price`, per kind of step and over all."""
    return deviations(steps, [price(step.load) for step in steps])
