"""Do CUDA graphs change a token?"""

import torch

from gpu_check.check import Outcome, Setting
from gpu_check.runs import BLOCK_SIZE, POLICIES, differing, expected, loaded, run
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.step.graphs import Compute, DecodeGraphs, OnCuda
from hwmodels.torch_executor.step.pool import KVPool


def check(setting: Setting) -> Outcome:
    """The runs of `tokens`, with decodes as graphs."""
    rows, wrong = [], []
    for name in setting.tiny_models:
        if "moe" in name:
            continue
        right = expected(setting, name)
        for policy in POLICIES:
            runner, recorded = _runner(setting, name)
            different = differing(run(setting, runner, policy), right)
            wrong += [f"{name}, {policy}: {reason}" for reason in different]
            if not recorded:
                wrong.append(f"{name}, {policy}: no graph was recorded, so this shows nothing")
            same = len(right) - len(different)
            rows.append(
                {"model": name, "policy": policy, "graphs": len(recorded), "same": same,
                 "requests": len(right)}
            )  # fmt: skip
    left_out = ["mixtures of experts: their routing waits for the device, which no graph can hold"]
    if not setting.cuda:
        left_out.append("a CPU records nothing: steps are computed as graphs would be, padded")
    return Outcome({"runs": rows}, wrong, left_out)


def _runner(setting: Setting, name: str) -> tuple[StepRunner, list[Compute]]:
    """A runner, and what it records."""
    model = loaded(name, setting.on)
    pool = KVPool(model.layers, BLOCK_SIZE, model.dtype, model.device, fill=torch.nan)
    record = OnCuda() if setting.cuda else lambda compute: compute
    recorded: list[Compute] = []

    def noted(compute: Compute) -> Compute:
        recorded.append(compute)
        return record(compute)

    graphs = DecodeGraphs(model.model, pool, model.device, noted)
    return StepRunner(model, pool, graphs=graphs), recorded
