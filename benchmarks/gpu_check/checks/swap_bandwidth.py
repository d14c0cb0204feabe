"""How fast blocks are copied to the host and back."""

import random
import statistics
import time
from collections.abc import Callable

import torch

from gpu_check.check import Outcome, Setting
from hwmodels.torch_executor.step.pool import KVPool, LayerShape
from sched_core import Swap

LAYERS, BLOCK_SIZE = [LayerShape(8, 64, 64)] * 16, 16
"""As `llama-1b` has it, in 16 bits: half a mebibyte in each block."""

REPEATS = 3
GB = 1e9


def check(setting: Setting) -> Outcome:
    """Gigabytes per second, from the call to the end of the copies; `link` is one large copy."""
    counts = (1, 4) if setting.quick else (1, 4, 16, 64, 256, 1024)
    pool = KVPool(LAYERS, BLOCK_SIZE, torch.bfloat16, setting.on)
    pool.reserve(2 * counts[-1], counts[-1])
    for tensor in pool.device:
        tensor.normal_()
    rows = []
    for count in counts:
        row = list(range(1, count + 1))
        mixed = random.Random(0).sample(row, count)
        for order, blocks in (("in a row", row), ("scattered", mixed)):
            speeds = _speeds(setting, pool, tuple(blocks))
            rows.append({"blocks": count, "order": order, **speeds})
    wrong = [] if _come_back(pool, counts[-1]) else ["blocks came back with other contents"]
    sizes = {"block_bytes": pool.block_bytes, "link": _link(setting)}
    return Outcome({**sizes, "speeds": rows}, wrong)


def _speeds(setting: Setting, pool: KVPool, blocks: tuple[int, ...]) -> dict[str, float]:
    swap, size = [Swap("measured", blocks, blocks)], len(blocks) * pool.block_bytes
    return {
        "out": size / _seconds(setting, lambda: pool.swap_out(swap)) / GB,
        "in": size / _seconds(setting, lambda: pool.swap_in(swap)) / GB,
    }


def _link(setting: Setting) -> dict[str, float]:
    """What the link allows: one copy to pinned memory, and one from it."""
    size = 1 << (20 if setting.quick else 28)
    host = torch.ones(size, dtype=torch.uint8, pin_memory=setting.cuda)
    device = host.to(setting.on, copy=True)
    return {
        "out": host.nbytes / _seconds(setting, lambda: host.copy_(device, non_blocking=True)) / GB,
        "in": host.nbytes / _seconds(setting, lambda: device.copy_(host, non_blocking=True)) / GB,
    }


def _seconds(setting: Setting, call: Callable[[], object]) -> float:
    """Median, after one call to warm up."""
    times = []
    for _ in range(1 + REPEATS):
        started = time.perf_counter()
        call()
        if setting.cuda:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def _come_back(pool: KVPool, count: int) -> bool:
    """Are blocks the same after the way to the host, and back to other blocks?"""
    there, back = tuple(range(1, count + 1)), tuple(range(count + 1, 2 * count + 1))
    pool.swap_out([Swap("measured", there, there)])
    pool.swap_in([Swap("measured", there, back)])
    pool.wait_for_copies()
    return all(
        torch.equal(tensor[1 : count + 1], tensor[count + 1 : 2 * count + 1])
        for tensor in pool.device
    )
