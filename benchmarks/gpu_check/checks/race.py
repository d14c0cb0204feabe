"""How fast the executor is beside transformers' own continuous batching."""

import torch_executor

from gpu_check.check import Outcome, Setting
from hwmodels.torch_executor import setup
from hwmodels.torch_executor.hardware import Torch


def check(setting: Setting) -> Outcome:
    """The benchmark `torch_executor.py`, in 16 bits: there equal tokens are no matter of course."""
    load = torch_executor.Load(*((4, 16, 8) if setting.quick else (32, 64, 48)))
    rounds = 1 if setting.quick else torch_executor.ROUNDS
    ways = {"torch executor": False} | ({"with CUDA graphs": True} if setting.cuda else {})
    executors = {
        name: setup.executor(
            Torch(device=setting.device, dtype=setting.dtype, cuda_graphs=graphs),
            setting.model,
            torch_executor.BLOCK_SIZE,
        )
        for name, graphs in ways.items()
    }
    found = torch_executor.race(executors, load, rounds)
    racers = [{"racer": name, **row} for name, row in found.items()]
    return Outcome({"model": setting.model, "dtype": setting.dtype, "racers": racers})
