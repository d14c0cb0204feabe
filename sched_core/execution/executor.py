"""What a hardware model or a real executor fulfils, and what it may offer besides.

The optional parts are protocols; each is asked for here, in one function, and nowhere else.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import attrs

from sched_core.errors import InputError
from sched_core.execution.load import EMPTY_LOAD, StepLoad
from sched_core.execution.plan import StepOutcome, StepPlan


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


Steps = Callable[[StepLoad, int], Sequence[float] | None]


@runtime_checkable
class SeriesCosts(Costs, Protocol):
    """Costs that price many decode steps at once: an optional part, for speed."""

    def steps(self, load: StepLoad, n: int) -> Sequence[float] | None:
        """Seconds of `n` steps in a row; None where they must be asked for one by one.

        `load` holds decodes only, each of which sees one token more in every further step, so the
        i-th, from 0, has `decode_kv_tokens + i * decodes`. Each must be the very float that `step`
        returns for it, so keep the order of additions.
        """


def steps_of(costs: Costs) -> Steps | None:
    """`costs.steps`; None where there is none, or where it knows nothing of the `step` in force.

    That is so in a subclass that overrides `step` alone: the inherited `steps` would go on pricing
    as the parent does.
    """
    if not isinstance(costs, SeriesCosts):
        return None
    places = [getattr(costs, "__dict__", {}), *map(vars, type(costs).__mro__)]

    def depth(name: str) -> int:
        return next((i for i, names in enumerate(places) if name in names), len(places))

    return costs.steps if depth("steps") <= depth("step") < len(places) else None


@runtime_checkable
class RecordableCosts(Costs, Protocol):
    """Costs that a file can keep, so that a replay answers policies as the recorded run did: an
    optional part, which `run --record-times` needs."""

    def to_record(self) -> dict[str, object]:
        """Plain JSON values to make these costs again. `form` names their kind for the reader:
        hardware `recorded` knows `linear`, with the keys of `hwmodels`' LinearCosts."""


def record_of(costs: Costs) -> dict[str, object]:
    """`costs.to_record()`; raises InputError, naming the class, where there is none."""
    if not isinstance(costs, RecordableCosts):
        raise InputError(
            f"costs of class {type(costs).__name__} cannot be written to a file",
            expected="costs with a method to_record()",
        )
    return costs.to_record()


class Executor(Protocol):
    """Runs, or prices, one step at a time.

    `Modelled`, `Padding` and `CacheKeeper` are what it may say of itself besides.
    """

    @property
    def costs(self) -> Costs: ...

    def execute(self, plan: StepPlan) -> StepOutcome: ...

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity: ...

    def describe(self) -> dict[str, object]:
        """The setting, for the head of a table: plain JSON values, in a fixed order."""


@runtime_checkable
class Modelled(Protocol):
    """An executor that says whether its steps are only priced: an optional part."""

    @property
    def modelled(self) -> bool:
        """Does `execute(plan)` take `costs.step(plan.load)`, whenever and wherever it is called,
        and need nothing else of the plan? Then undisturbed decodes are priced without one."""


def modelled(executor: Executor) -> bool:
    """Are its steps only priced? By default it may run them for real."""
    return isinstance(executor, Modelled) and executor.modelled


@runtime_checkable
class Padding(Protocol):
    """An executor that says whether it computes padding: an optional part."""

    @property
    def pads(self) -> bool:
        """False for what runs the tokens of a plan and nothing beside them: `batching=padded` is
        then refused, since its steps would be too short."""


def pads(executor: Executor) -> bool:
    """Are its times those of the padding too? By default they are: it prices the load."""
    return not isinstance(executor, Padding) or executor.pads


@runtime_checkable
class CacheKeeper(Protocol):
    """An executor that holds K and V: an optional part."""

    def initialize_cache(self, num_gpu_blocks: int, num_cpu_blocks: int) -> None:
        """Told once, before the first step: block ids go from 1 to these, on device and host."""


def initialize_cache(executor: Executor, num_gpu_blocks: int, num_cpu_blocks: int) -> None:
    """Tell an executor that wants to know how large its pools are."""
    if isinstance(executor, CacheKeeper):
        executor.initialize_cache(num_gpu_blocks, num_cpu_blocks)
