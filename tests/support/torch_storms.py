"""Runs in which requests lose their places over and over."""

from typing import Any

from torch_runs import executor, run

from hwmodels.torch_executor.testing import Watched
from sched_core import Engine, EngineConfig, Policy, RequestSpec, SharedPrefix
from sched_core.testing.random_policies import random_component

PROMPTS = [
    RequestSpec(f"r{number}", 0.0, length, 1, prefix=prefix)
    for number, (length, prefix) in enumerate(
        [
            (1, None),
            (7, None),
            (16, SharedPrefix("a", 16)),
            (33, SharedPrefix("a", 32)),
            (40, SharedPrefix("a", 21)),
            (17, SharedPrefix("b", 16)),
            (36, SharedPrefix("b", 30)),
            (23, None),
        ]
    )
]
"""Few prompts, so that `generate` runs once for each; some begin alike."""

STORM = [
    RequestSpec(spec.id, float(number // 3), spec.prompt_len, 20, number % 3, prefix=spec.prefix)
    for number, spec in enumerate(PROMPTS)
]
"""All of `PROMPTS`, close together."""


def storm(
    model: str = "tiny-llama",
    policy: str = "fcfs",
    *,
    caching: bool = False,
    block_size: int = 2,
    **how: Any,
) -> tuple[Watched, Engine]:
    """`STORM` in a pool of 84 tokens; `how` goes to `executor`.

    The policy `foolish` takes victims at random, for those that wait too, and swaps half of them.
    """
    real = executor(model, block_size, **how)
    config = EngineConfig(
        max_num_batched_tokens=40,
        block_size=block_size,
        num_gpu_blocks=84 // block_size,
        num_cpu_blocks=400 // block_size,
        enable_prefix_caching=caching,
        scheduler_reserve_full_isl=False,
    )
    foolish = ("foolish", random_component(("choose_preempt_mode", "select_victim")))
    chosen = Policy([foolish]) if policy == "foolish" else policy
    return real, run(real, STORM, chosen, config)
