"""Hardware on which a test says what recomputing costs."""

from collections.abc import Callable

import attrs

from hwmodels.constant import Constant, ConstantCosts, ConstantExecutor
from sched_core import StepLoad


@attrs.frozen
class Priced(Constant):
    """A second a step, and recomputing `tokens` costs `recompute(tokens)` seconds."""

    recompute: Callable[[int], float] = float

    def executor(self, model: str | None, *, block_size: int) -> ConstantExecutor:
        return ConstantExecutor(PricedCosts(self))


@attrs.frozen
class PricedCosts(ConstantCosts):
    hardware: Priced

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        assert beside.decodes > 0
        return self.hardware.recompute(tokens)
