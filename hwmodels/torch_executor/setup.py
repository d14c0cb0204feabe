"""From the parameters of `torch` to an executor. Models and prices are kept for the next run."""

import os
import platform
from functools import cache, partial
from pathlib import Path

import torch
import transformers

from hwmodels.measured import calibration as measured
from hwmodels.measured.calibration import Calibration, Memory
from hwmodels.measured.linear_costs import LinearCosts
from hwmodels.torch_executor import measure
from hwmodels.torch_executor.executor import StepRunner, TorchExecutor
from hwmodels.torch_executor.model import models
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.model.memory import free_bytes
from hwmodels.torch_executor.prompts.prompts import Prompts, SyntheticPrompts
from hwmodels.torch_executor.prompts.texts import TextPrompts
from hwmodels.torch_executor.settings import DEVICES, Settings
from hwmodels.torch_executor.step.graphs import DecodeGraphs, OnCuda
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import InputError

QUICK = 24
"""Steps that a run measures for its costs where no file gives them: about a second on a CPU."""


def executor(settings: Settings, model: str, block_size: int) -> TorchExecutor:
    """A fresh executor; a model that was loaded before is used again."""
    loaded = _loaded(settings, model)
    runner = _runner(loaded, block_size, settings)
    return TorchExecutor(
        runner,
        _prompts(settings, model, loaded.vocab),
        _costs(settings, model, block_size),
        _setting(settings, loaded),
    )


def _loaded(settings: Settings, model: str) -> LoadedModel:
    if settings.threads:
        torch.set_num_threads(settings.threads)
    if settings.dtype not in ("auto", *models.DTYPES):
        known = ", ".join(models.DTYPES)
        raise InputError("unknown", field="dtype", value=settings.dtype, expected=f"auto, {known}")
    on = device(settings.device)
    check_device(settings, on)
    if on.type == "cuda":
        torch.cuda.set_device(on)  # streams and events are those of the current device
    return _load(model, settings.dtype, on, settings.seed)


_load = cache(lambda name, dtype, on, seed: models.load(name, dtype=dtype, device=on, seed=seed))


def device(name: str) -> torch.device:
    """The device called so; raises InputError where there is none."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(name)
    except RuntimeError:
        found = None
    if found is None or found.type not in ("cpu", "cuda"):
        raise InputError("unknown device", field="device", value=name, expected=DEVICES)
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise InputError("this machine has no such CUDA device", field="device", value=name)
    return found


def check_device(settings: Settings, on: torch.device) -> None:
    """Raises InputError for a parameter that `on` would not heed."""
    if settings.cuda_graphs and on.type != "cuda":
        raise InputError(
            "graphs are recorded on a CUDA device",
            field="cuda_graphs",
            value="true",
            expected=f"false with device {on}",
        )
    if settings.clock == "cpu" and on.type == "cuda":
        raise InputError(
            "the steps of a CUDA device are timed by its own events",
            field="clock",
            value="cpu",
            expected=f"wall with device {on}",
        )


def _runner(loaded: LoadedModel, block_size: int, settings: Settings) -> StepRunner:
    pool, graphs = KVPool(loaded.layers, block_size, loaded.dtype, loaded.device), None
    if settings.cuda_graphs:
        graphs = DecodeGraphs(loaded.model, pool, loaded.device, OnCuda())
        graphs.try_one()
    return StepRunner(
        loaded,
        pool,
        temperature=settings.temperature,
        seed=settings.seed,
        clock=settings.clock,
        graphs=graphs,
    )


def _prompts(settings: Settings, model: str, vocab: int) -> Prompts:
    if settings.prompts:
        return TextPrompts.of(settings.prompts, model, vocab)
    return SyntheticPrompts(settings.seed, vocab)


@cache
def _costs(settings: Settings, model: str, block_size: int) -> LinearCosts:
    """Those of a file, or a quick fit: the same for all runs of a process."""
    if settings.costs:
        found = measured.Measured(path=settings.costs)
        return found.executor(model, block_size=block_size).costs
    loaded = _loaded(settings, model)
    runner = _runner(loaded, block_size, settings)
    shapes = list(measure.random_shapes(measure.Range.of(loaded), QUICK, seed=0))
    return measure.fitted(runner, measure.time_steps(runner, shapes, repeats=1))


def calibration(settings: Settings, model: str, steps: int, repeats: int) -> Calibration:
    """A price fitted to `steps` random steps, and its error on as many others."""
    loaded, block_size = _loaded(settings, model), 16
    limits = measure.Range.of(loaded)
    memory = Memory.seen(partial(free_bytes, loaded), limits.max_num_batched_tokens)
    runner = _runner(loaded, block_size, settings)  # takes memory
    shapes = list(measure.random_shapes(limits, 2 * steps, settings.seed))
    timed = measure.time_steps(runner, shapes, repeats)
    seen, held_out = timed.every_second(0), timed.every_second(1)
    costs = measure.fitted(runner, seen)
    return Calibration(
        model=model,
        costs=costs,
        setting=_setting(settings, loaded) | {"steps": steps, "repeats": repeats},
        error=measure.errors(costs, held_out),
        block_size=block_size,
        kv_bytes_per_token=runner.pool.block_bytes // block_size,
        memory=memory,
        max_model_len=loaded.max_positions,
    )


def _setting(settings: Settings, loaded: LoadedModel) -> dict[str, object]:
    """All that a time depends on."""
    cuda = loaded.device.type == "cuda"
    return {
        "hardware": torch.cuda.get_device_name(loaded.device) if cuda else _cpu(),
        "model": loaded.name,
        "model_source": loaded.source,
        "device": str(loaded.device),
        "dtype": str(loaded.dtype).removeprefix("torch."),
        "threads": torch.get_num_threads(),
        "cuda_graphs": settings.cuda_graphs,
        "clock": "device events" if cuda else settings.clock,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "seed": settings.seed,
        "temperature": settings.temperature,
        "costs": settings.costs or f"fitted to {QUICK} steps at the start",
    }


def _cpu() -> str:
    """The processor's name, where the system tells it, and its cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, " + (
        f"{os.cpu_count()} cores"
    )
