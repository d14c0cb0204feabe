"""How long steps take, over tokens of a prompt and over decodes of several contexts."""

from collections.abc import Sequence
from typing import Any

import torch

from gpu_check.check import Outcome, Setting
from hwmodels.torch_executor import setup
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.hardware import Torch
from hwmodels.torch_executor.measure import Shape, chunk, decode, time_steps

BLOCK_SIZE = 16
REPEATS = 5
ROOM = 0.6
"""Share of the free memory that K and V of a step may take: attention needs some beside them."""


def check(setting: Setting) -> Outcome:
    """Medians; `spread` is (largest - smallest) / median."""
    runner = timed_runner(setting)
    shapes = _shapes(setting)
    fitting = [shape for shape in shapes if fits(runner, shape)]
    left_out = [f"{name(shape)}: no room" for shape in shapes if shape not in fitting]
    figures = {"model": setting.model, "dtype": setting.dtype, "steps": rows(runner, fitting)}
    return Outcome(figures, left_out=left_out)


def timed_runner(setting: Setting, *, graphs: bool = False) -> StepRunner:
    """One of the model whose steps are timed."""
    how = Torch(device=setting.device, dtype=setting.dtype, cuda_graphs=graphs)
    return setup.executor(how, setting.model, BLOCK_SIZE).runner


def _shapes(setting: Setting) -> list[Shape]:
    lengths = (8, 32) if setting.quick else (64, 128, 256, 512, 1024, 2048, 4096, 8192)
    batches = (1, 4) if setting.quick else (1, 4, 16, 64, 256)
    contexts = (32,) if setting.quick else (128, 1024, 4096)
    prompts = [[chunk(0, length)] for length in lengths]
    return prompts + [decodes(batch, context) for context in contexts for batch in batches]


def decodes(batch: int, context: int) -> Shape:
    """A token each, that sees `context` tokens with itself."""
    return [decode(context - 1)] * batch


def fits(runner: StepRunner, shape: Shape) -> bool:
    """Is there memory for the step's K and V, and for what attention reads of them at once?"""
    if runner.loaded.device.type != "cuda":
        return True
    blocks = sum(-(-(part.computed + part.new) // BLOCK_SIZE) for part in shape)
    free, _ = torch.cuda.mem_get_info(runner.loaded.device)
    return bool(blocks * runner.pool.block_bytes <= ROOM * free)


def rows(runner: StepRunner, shapes: Sequence[Shape]) -> list[dict[str, Any]]:
    """A row per step, in seconds."""
    timed = time_steps(runner, shapes, REPEATS)
    return [
        {"step": name(shape), "seconds": seconds, "tokens_per_second": _tokens(shape) / seconds,
         "spread": spread}
        for shape, seconds, spread in zip(shapes, timed.seconds, timed.spread, strict=True)
    ]  # fmt: skip


def name(shape: Shape) -> str:
    """What a step holds, for people."""
    first = shape[0]
    if not first.computed:
        return f"prompt of {first.new}"
    return f"{len(shape)} decodes at {first.computed + 1}"


def _tokens(shape: Shape) -> int:
    return sum(part.new for part in shape)
