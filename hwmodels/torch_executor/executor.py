"""The executor: what a plan says is computed for real, and timed."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import ClassVar

import attrs
import torch

from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.model.memory import free_bytes
from hwmodels.torch_executor.prompts.prompts import Prompts
from hwmodels.torch_executor.step.clock import Stopwatch
from hwmodels.torch_executor.step.forward import logits
from hwmodels.torch_executor.step.graphs import DecodeGraph, DecodeGraphs
from hwmodels.torch_executor.step.packing import PackedBatch, pack
from hwmodels.torch_executor.step.pool import KVPool
from hwmodels.torch_executor.step.sampling import sample
from sched_core import (
    Capacity,
    Costs,
    InputError,
    ScheduledRequest,
    StepOutcome,
    StepPlan,
    Swap,
)


class StepRunner:
    """Runs steps of a model over a paged pool. Knows what it was told, and the tokens it chose.

    `tokens` holds the prompt and emitted tokens of every live request, by id: a recompute needs
    both. Everything else comes with the step.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        pool: KVPool,
        *,
        temperature: float = 0.0,
        seed: int = 0,
        clock: str = "wall",
        graphs: DecodeGraphs | None = None,
    ) -> None:
        self.loaded = loaded
        self.pool = pool
        self.graphs = graphs
        self.tokens: dict[str, list[int]] = {}
        self._temperature = temperature
        self._seed = seed
        self._clock = clock

    def run(
        self,
        shares: Sequence[ScheduledRequest],
        swapped_out: Sequence[Swap] = (),
        swapped_in: Sequence[Swap] = (),
    ) -> StepOutcome:
        """Copies out, copies in, one forward pass; measured from packing to sampled tokens."""
        self.pool.reserve(*_highest(shares, swapped_out, swapped_in))
        graph = self.graphs.find(shares) if self.graphs else None
        with torch.inference_mode(), Stopwatch(self.loaded.device, self._clock) as watch:
            self.pool.swap_out(swapped_out)
            self.pool.swap_in(swapped_in)
            emitted = self._compute(shares, graph)
        for name, token in emitted.items():
            self.tokens[name].append(token)
        return StepOutcome(watch.seconds, emitted)

    def _compute(
        self, shares: Sequence[ScheduledRequest], graph: DecodeGraph | None
    ) -> dict[str, int]:
        if not shares:
            self.pool.wait_for_copies()  # all that this step is for
            return {}
        self.pool.before_use(block for share in shares for block in share.block_ids)
        sampled: Sequence[ScheduledRequest] = shares
        if graph is not None:
            rows = graph.logits(shares, self.tokens)
        else:
            batch = self.pack(shares)
            rows, sampled = logits(self.loaded.model, self.pool, batch), batch.sampled
        chosen = sample(rows, sampled, self._temperature, self._seed).tolist()
        return {
            share.id: token for share, token in zip(sampled, chosen, strict=True) if share.samples
        }

    def pack(self, shares: Sequence[ScheduledRequest]) -> PackedBatch:
        """The step's batch, on the device."""
        return pack(shares, self.tokens, self.pool.block_size, self.loaded.device)


def _highest(
    shares: Iterable[ScheduledRequest], swapped_out: Iterable[Swap], swapped_in: Iterable[Swap]
) -> tuple[int, int]:
    """The highest block ids that a step names, on the device and on the host."""
    device = [share.block_ids for share in shares]
    device += [swap.sources for swap in swapped_out] + [swap.targets for swap in swapped_in]
    host = [swap.targets for swap in swapped_out]
    return max(chain(*device), default=0), max(chain(*host), default=0)


@attrs.frozen
class TorchExecutor:
    """Fulfils `sched_core.Executor` with a real model: `hwmodels.torch_executor.hardware` makes
    one."""

    pads: ClassVar[bool] = False
    runner: StepRunner
    prompts: Prompts
    costs: Costs
    setting: Mapping[str, object]

    def execute(self, plan: StepPlan) -> StepOutcome:
        """Run the step; the outcome holds what it took and who emitted which token."""
        tokens = self.runner.tokens
        for name in plan.finished_req_ids:
            tokens.pop(name, None)  # a rejected request never had any
        for request in plan.scheduled_new_reqs:
            tokens[request.id] = self.prompts(request)
        return self.runner.run(plan.scheduled, plan.swapped_out, plan.swapped_in)

    def initialize_cache(self, num_gpu_blocks: int, num_cpu_blocks: int) -> None:
        """How large the pools are: on CUDA that is taken at the first step."""
        self.runner.pool.expected = (num_gpu_blocks, num_cpu_blocks)

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity:
        """Blocks that fit beside the weights and the activations of the largest step."""
        loaded, block_bytes = self.runner.loaded, self.runner.pool.block_bytes
        usable = free_bytes(loaded, gpu_memory_utilization, max_num_batched_tokens)
        if usable < block_bytes:
            raise InputError(
                f"no KV block of {block_bytes} bytes fits beside {loaded.name}",
                expected="a smaller model or a smaller max_num_batched_tokens",
            )
        return Capacity(usable // block_bytes, loaded.max_positions, block_bytes)

    def describe(self) -> dict[str, object]:
        """Model, machine and versions."""
        return dict(self.setting)
