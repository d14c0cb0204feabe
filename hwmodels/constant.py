"""Hardware on which every step takes the same time: for hand-worked cases and tests."""

from collections.abc import Sequence
from typing import ClassVar

import attrs

from hwmodels.validators import positive_seconds, seconds
from sched_core import EMPTY_LOAD, Capacity, StepLoad, StepOutcome, StepPlan


@attrs.frozen
class Constant:
    """Every step lasts `step` seconds, whatever it holds. Needs no model."""

    step: float = attrs.field(
        default=0.03, validator=positive_seconds, metadata={"about": "seconds per step"}
    )
    swap_out: float = attrs.field(
        default=0.0, validator=seconds, metadata={"about": "seconds per block to the host"}
    )
    swap_in: float = attrs.field(
        default=0.0, validator=seconds, metadata={"about": "seconds per block back"}
    )
    overlap: bool = attrs.field(
        default=False, metadata={"about": "do swaps run beside the computation?"}
    )

    def executor(self, model: str | None, *, block_size: int) -> "ConstantExecutor":
        """An executor; `model` and `block_size` change nothing."""
        return ConstantExecutor(ConstantCosts(self))

    def describe(self) -> dict[str, object]:
        """The parameters, as plain JSON values."""
        return {"hardware": "constant", **attrs.asdict(self)}


@attrs.frozen
class ConstantExecutor:
    """Prices steps for `Constant`."""

    modelled: ClassVar[bool] = True
    costs: "ConstantCosts"

    def execute(self, plan: StepPlan) -> StepOutcome:
        """`step` seconds, and the copies' time where one is set."""
        return StepOutcome(self.costs.step(plan.load))

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity:
        """No opinion: there is no memory to fill."""
        return Capacity(num_gpu_blocks=None)

    def describe(self) -> dict[str, object]:
        return self.costs.hardware.describe()


@attrs.frozen
class ConstantCosts:
    """`Constant`'s word on marginal costs, in seconds."""

    hardware: Constant

    def step(self, load: StepLoad) -> float:
        compute = self.hardware.step
        copies = self.hardware.swap_out * load.blocks_out + self.hardware.swap_in * load.blocks_in
        return max(compute, copies) if self.hardware.overlap else compute + copies

    def steps(self, load: StepLoad, n: int) -> Sequence[float]:
        """`step` of `n` steps that differ in their context only."""
        return [self.step(load)] * n

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        """Free beside other work, since that step lasts as long anyway; else one step."""
        return 0.0 if beside.new_tokens else self.hardware.step

    def swap_out(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.step(beside._replace(blocks_out=beside.blocks_out + blocks)) - self.step(beside)

    def swap_in(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.step(beside._replace(blocks_in=beside.blocks_in + blocks)) - self.step(beside)
