"""Scenarios that catch known faults, tried before the random ones.

Each is what a policy with such a fault falls for, and random scenarios seldom hold.
"""

from collections.abc import Iterable
from typing import Any

from sched_core.config import EngineConfig
from sched_core.experiment.scenario import Scenario
from sched_core.testing.strategies import scenario
from sched_core.workload.spec import RequestSpec


def _trap(
    requests: Iterable[tuple[float, int, int]], tenants: str = "ab", **settings: Any
) -> Scenario:
    """Requests as (arrival, prompt, output), of tenants in turn."""
    specs = [
        RequestSpec(f"r{number}", *each, tenant=tenants[number % len(tenants)])
        for number, each in enumerate(requests)
    ]
    config = {"max_num_batched_tokens": 40, "block_size": 8, **settings}
    return scenario(specs, EngineConfig(**config))


ANY = (
    # memory is short, and there is a choice of victims
    _trap([(0, 32, 32), (0, 32, 32), (1, 20, 30), (3, 7, 5)], num_gpu_blocks=12, num_cpu_blocks=6),
    # somebody waits behind one that runs, and others are still to come
    _trap([(0, 16, 12), (1, 16, 4), (8, 16, 4), (30, 4, 2)], num_gpu_blocks=12),
    # small ones pass a large one, again and again
    _trap([(0, 40, 20), (1, 90, 4), (2, 8, 1), (3, 8, 1), (4, 8, 1), (5, 8, 1)], num_gpu_blocks=12),
    # one seat, and tenants that may take turns
    _trap([(0, 1, 1)] * 3, "aab", max_num_seqs=1, num_gpu_blocks=12),
)


def _queue(gap: float, prompt_len: int, output_len: int, **config: Any) -> Scenario:
    """Equal requests, faster than they can be served, behind a bunch of six."""
    requests = [(max(0, number - 5) * gap, prompt_len, output_len) for number in range(20)]
    return _trap(requests, "a", **config)


EQUALS = (
    # the seats are short
    _queue(4.0, 8, 8, max_num_seqs=1, num_gpu_blocks=8),
    # memory is short, in the middle of a prompt
    _queue(0.125, 15, 1, max_num_batched_tokens=8, max_num_seqs=2, block_size=4, num_gpu_blocks=4),
    # memory is short, in the middle of an answer
    _queue(0.625, 5, 5, max_num_batched_tokens=8, max_num_seqs=2, block_size=1, num_gpu_blocks=9),
)
