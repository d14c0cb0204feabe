"""What to expect of a workload on one GPU before anything is simulated: load against capacity.

One full step is priced: as many decodes as seats, memory and budget hold, each with the mean
context of an output token, beside the prompt tokens that come in for every output token. What
that step emits, over its time, is the most that the GPU serves under this mix of lengths. Queues,
bursts, preemptions and shared prefixes are for the simulation.
"""

from collections.abc import Sequence
from typing import Any

from sched_core.catalogue.specs import shown
from sched_core.config import EngineConfig
from sched_core.execution.executor import Executor, modelled
from sched_core.execution.load import StepLoad, mixed_load
from sched_core.experiment.named import named_hardware
from sched_core.limits import MAX_COUNT
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

IDLE, BUSY, FULL = 0.01, 0.8, 1.0
"""Shares of what the GPU can serve: below, nothing ever waits; above, bursts queue; from here on,
the queue grows."""


def expect(workload: Workload, hardware: str, model: str | None) -> dict[str, Any]:
    """Requests and tokens a second, offered and at most served, and a sentence; null where unknown.

    With the engine's defaults. Raises UsageError where hardware or model do not exist or fit.
    """
    executor = named_hardware(hardware).executor(model, block_size=EngineConfig().block_size)
    requests = [r for r in workload.requests if r.prompt_len and r.output_len]
    served = _served(executor, requests) if modelled(executor) and requests else None
    offered = _offered(workload)
    load = offered / served if offered is not None and served else None
    tokens = _mean([r.prompt_len + r.output_len for r in requests]) if requests else 0.0
    return {
        "hardware": shown(hardware),
        "model": executor.describe().get("model"),
        "offered_requests": offered,
        "offered_tokens": None if offered is None else offered * tokens,
        "served_requests": served,
        "served_tokens": None if served is None else served * tokens,
        "load": load,
        "verdict": _verdict(workload, offered, served, load),
    }


def _offered(workload: Workload) -> float | None:
    """Requests a second from the first arrival to the last; None where answers decide it."""
    if workload.max_concurrency is not None or any(r.turn for r in workload.requests):
        return None
    times = [request.arrival for request in workload.requests]
    span = max(times) - min(times) if times else 0.0
    return (len(times) - 1) / span if span else None


def _served(executor: Executor, requests: Sequence[RequestSpec]) -> float:
    """Requests a second, at most."""
    outputs = sum(r.output_len for r in requests)
    prompts = sum(r.prompt_len for r in requests)
    context = sum(r.output_len * (r.prompt_len + r.output_len / 2) for r in requests) / outputs
    start = sum(r.prompt_len**2 for r in requests) / prompts / 2
    decodes = _decodes(_filled(executor), context, prompts / outputs)
    step = _full_step(decodes, context, round(decodes * prompts / outputs), start)
    return decodes / executor.costs.step(step) * len(requests) / outputs


def _full_step(decodes: int, context: float, chunk: int, start: float) -> StepLoad:
    chunks = [(round(start), chunk)] if chunk else []
    return mixed_load(decodes, round(decodes * context), chunks, decodes)


def _filled(executor: Executor) -> EngineConfig:
    """The engine's defaults with the blocks that fit, or as many as can be without a memory."""
    config = EngineConfig()
    capacity = executor.capacity(
        block_size=config.block_size,
        gpu_memory_utilization=config.gpu_memory_utilization,
        max_num_batched_tokens=config.max_num_batched_tokens,
    )
    return config.with_capacity(capacity.num_gpu_blocks or MAX_COUNT, capacity.max_model_len)


def _decodes(config: EngineConfig, context: float, prompt: float) -> int:
    """How many run at once: seats, memory, and a budget that `prompt` tokens beside each share."""
    assert config.num_gpu_blocks is not None
    budget = config.max_num_batched_tokens / (1 + prompt)
    memory = config.num_gpu_blocks / (context / config.block_size + 0.5)
    return max(1, int(min(config.seats, budget, memory)))


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _verdict(
    workload: Workload, offered: float | None, served: float | None, load: float | None
) -> str:
    if not workload.requests:
        return "no requests"
    if served is None:
        return "not known before it runs: its steps are measured, not priced"
    if load is None or offered is None:
        return "no rate of its own: " + _why_no_rate(workload)
    told = f"offered {_short(offered)} requests/s, at most {_short(served)} served"
    if load >= FULL:
        advice = _unit_in_doubt(workload, load > 1 / IDLE, "seconds")
        return f"{told}: overloaded, the queue grows{advice}"
    if load >= BUSY:
        return f"{told}: nearly full, bursts will queue"
    if load >= IDLE:
        return f"{told}: no lasting queue"
    return f"{told}: idle most of the time{_unit_in_doubt(workload, True, 'milliseconds')}"


def _unit_in_doubt(workload: Workload, far_off: bool, unit: str) -> str:
    """Of rows that somebody else wrote; what a generator draws is as it was asked for."""
    recorded = workload.description.get("kind") in ("trace", "frame", "listed")
    return f"; are arrivals in {unit}?" if far_off and recorded else ""


def _why_no_rate(workload: Workload) -> str:
    if workload.max_concurrency is not None:
        return f"at most {workload.max_concurrency} requests at a time"
    if any(request.turn for request in workload.requests):
        return "later turns wait for the answer before"
    return "all arrive at once"


def _short(value: float) -> str:
    return f"{value:.2g}" if value < 1 else f"{value:.3g}" if value < 100 else f"{value:,.0f}"
