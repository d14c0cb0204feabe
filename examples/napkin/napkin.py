"""A GPU as on a napkin: a step reads the weights and the cache, and computes its tokens."""

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from sched_core import EMPTY_LOAD, Capacity, InputError, StepLoad, StepOutcome, StepPlan, limits


def given(default: float, about: str) -> Any:
    return attrs.field(
        default=default, validator=limits.Numbers(1e-12, 1e30), metadata={"about": about}
    )


@attrs.frozen(kw_only=True)
class Napkin:
    """8 billion weights of two bytes on 80 GB that are read at 2 TB/s."""

    weights: float = given(16e9, "bytes of weights")
    kv: float = given(131072.0, "bytes of K and V per token")
    token: float = given(6e-5, "seconds per new token")
    bandwidth: float = given(2e12, "bytes/s read")
    memory: float = given(80e9, "bytes of memory")
    link: float = given(25e9, "bytes/s to the host")

    def executor(self, model: str | None, *, block_size: int) -> "NapkinExecutor":
        return NapkinExecutor(self, NapkinCosts(self, block_size))

    def calibrate(
        self, model: str, loads: Sequence[StepLoad], seconds: Sequence[float]
    ) -> dict[str, float]:
        context = [load.decode_kv_tokens + load.prefill_kv_tokens for load in loads]
        tokens = [load.new_tokens for load in loads]
        rows = np.array([np.ones(len(loads)), context, tokens]).T / np.array(seconds)[:, None]
        (fixed, per_context, per_token), *_ = np.linalg.lstsq(rows, np.ones(len(loads)))
        read = self.weights / fixed
        return {"bandwidth": read, "kv": per_context * read, "token": per_token}


@attrs.frozen
class NapkinCosts:
    """Prices in seconds."""

    gpu: Napkin
    block_size: int

    def step(self, load: StepLoad) -> float:
        gpu = self.gpu
        context = load.decode_kv_tokens + load.prefill_kv_tokens
        copies = self.swap_out(load.blocks_out) + self.swap_in(load.blocks_in)
        if not load.new_tokens:
            return copies
        read = gpu.weights / gpu.bandwidth + gpu.kv / gpu.bandwidth * context
        return read + gpu.token * load.new_tokens + copies

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        alone = 0.0 if beside.new_tokens else self.gpu.weights / self.gpu.bandwidth
        return alone + self.gpu.token * tokens

    def swap_out(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.gpu.kv * self.block_size / self.gpu.link * blocks

    def swap_in(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.swap_out(blocks)

    def steps(self, load: StepLoad, n: int) -> list[float]:
        gpu = self.gpu
        weights, per_token = gpu.weights / gpu.bandwidth, gpu.kv / gpu.bandwidth
        contexts = (load.decode_kv_tokens + load.decodes * i for i in range(n))
        return [weights + per_token * kv + gpu.token * load.decodes for kv in contexts]


@attrs.frozen
class NapkinExecutor:
    """Takes a step's time from its price."""

    modelled: ClassVar[bool] = True
    gpu: Napkin
    costs: NapkinCosts

    def execute(self, plan: StepPlan) -> StepOutcome:
        return StepOutcome(self.costs.step(plan.load))

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity:
        free = self.gpu.memory * gpu_memory_utilization - self.gpu.weights
        block_bytes = int(self.gpu.kv * block_size)
        if free < block_bytes:
            raise InputError("no KV block fits beside the weights", field="memory")
        return Capacity(int(free // block_bytes), block_bytes=block_bytes)

    def describe(self) -> dict[str, object]:
        return {"hardware": "a GPU on a napkin", **attrs.asdict(self.gpu)}
