"""What a hardware model or a real executor fulfils."""

from typing import Protocol

import attrs

from sched_core.execution.plan import EMPTY_LOAD, StepLoad, StepOutcome, StepPlan


@attrs.frozen(slots=True)
class Capacity:
    """What fits the device."""

    num_gpu_blocks: int | None
    """KV blocks that fit the memory; None where the executor has no opinion."""
    max_model_len: int | None = None
    """The model's context in tokens; None where there is no model."""
    block_bytes: int = 0
    """Bytes of K and V in one block, over all layers; 0 where unknown."""


class Costs(Protocol):
    """Marginal costs in seconds, for policies that compare them."""

    def step(self, load: StepLoad) -> float:
        """How long a step of this content takes, in seconds, > 0 for a non-empty load."""

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        """Extra seconds to compute `tokens` positions of one request again, from position 0,
        when the chunks ride in steps that already hold `beside`."""

    def swap_out(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        """Extra seconds to copy `blocks` KV blocks to the host in a step that holds `beside`:
        less than alone where copies overlap with computing."""

    def swap_in(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        """Extra seconds to copy `blocks` KV blocks back."""


class Executor(Protocol):
    """Runs, or prices, one step at a time.

    A model may set `modelled = True` to say that `execute(plan)` takes `costs.step(plan.load)` and
    needs nothing else of the plan; the engine then prices undisturbed decodes without making one,
    and one executor serves all runs of a process, as it keeps nothing between them.
    What keeps K and V may have `initialize_cache(num_gpu_blocks, num_cpu_blocks)`: the engine calls
    it once, before the first step.
    What computes the tokens of a plan but no padding sets `pads = False`: `batching=padded` is
    then refused.
    """

    @property
    def costs(self) -> Costs: ...

    def execute(self, plan: StepPlan) -> StepOutcome: ...

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity: ...

    def describe(self) -> dict[str, object]:
        """The setting, for the head of a table: plain JSON values, in a fixed order."""
