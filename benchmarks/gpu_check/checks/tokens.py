"""Does the device give the CPU's tokens, in float64, whatever the scheduler does?"""

import torch

from gpu_check.check import Outcome, Setting
from gpu_check.runs import BLOCK_SIZE, POLICIES, differing, expected, loaded, run
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.step.pool import KVPool


def check(setting: Setting) -> Outcome:
    """Every tiny model under preemption by recompute and by swap; NaN in what nobody owns."""
    rows, wrong = [], []
    for name in setting.tiny_models:
        right = expected(setting, name)
        for policy in POLICIES:
            found = run(setting, _runner(setting, name), policy)
            different = differing(found, right)
            wrong += [f"{name}, {policy}: {reason}" for reason in different]
            if not (found.swap_outs if "swap" in policy else found.preemptions):
                wrong.append(f"{name}, {policy}: nobody lost a place, so this shows little")
            rows.append(
                {
                    "model": name,
                    "policy": policy,
                    "preemptions": found.preemptions,
                    "swap_outs": found.swap_outs,
                    "same": len(right) - len(different),
                    "requests": len(right),
                }
            )
    return Outcome({"runs": rows}, wrong)


def _runner(setting: Setting, name: str) -> StepRunner:
    model = loaded(name, setting.on)
    pool = KVPool(model.layers, BLOCK_SIZE, model.dtype, model.device, fill=torch.nan)
    return StepRunner(model, pool)
