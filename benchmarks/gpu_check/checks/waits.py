"""Does a step wait for the device before it reads its tokens?"""

import traceback
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from gpu_check.check import Outcome, Setting
from gpu_check.runs import BLOCK_SIZE, loaded
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.measure import chunk, decode, prepare
from hwmodels.torch_executor.step.forward import logits
from hwmodels.torch_executor.step.pool import KVPool
from hwmodels.torch_executor.step.sampling import sample
from sched_core import ScheduledRequest, Swap

MIXED = [decode(40), decode(100), chunk(0, 33), chunk(16, 20, last=False)]
OUT, BACK = Swap("measured", (90, 91), (1, 2)), Swap("measured", (3, 4), (92, 93))


def check(setting: Setting) -> Outcome:
    """A mixed step with copies both ways, up to its tokens, where torch refuses every wait."""
    rows, wrong = [], []
    for name in setting.tiny_models:
        reason = _reason(setting, name)
        rows.append({"model": name, "waits": bool(reason) if setting.cuda else None})
        if reason and "moe" not in name:  # transformers' eager experts ask who is routed where
            wrong.append(f"{name}: {reason}")
    if setting.cuda and not _refused(setting, torch.ones(1, device=setting.on).item):
        wrong.append("torch does not refuse to read a number, so this shows nothing")
    left_out = [] if setting.cuda else ["a CPU has nobody to wait for: the step was only run"]
    return Outcome({"models": rows}, wrong, left_out)


def _reason(setting: Setting, name: str) -> str:
    """Where the step waits, if it does."""
    model = loaded(name, setting.on)
    runner = StepRunner(model, KVPool(model.layers, BLOCK_SIZE, model.dtype, model.device))
    runner.pool.reserve(100, 4)
    shares = prepare(runner, MIXED)
    runner.tokens = {share.id: [1] * 200 for share in shares}
    _step(runner, shares)  # what is done once may wait
    return _refused(setting, lambda: _step(runner, shares))


def _step(runner: StepRunner, shares: list[ScheduledRequest]) -> Tensor:
    """As `StepRunner.run`, but for reading the tokens."""
    with torch.inference_mode():
        runner.pool.swap_out([OUT])
        runner.pool.swap_in([BACK])
        runner.pool.before_use(block for share in shares for block in share.block_ids)
        batch = runner.pack(shares)
        return sample(logits(runner.loaded.model, runner.pool, batch), batch.sampled, 0.0, 0)


def _refused(setting: Setting, compute: Callable[[], object]) -> str:
    """Where `compute` does what torch refuses in this mode; on a CPU it refuses nothing."""
    if setting.cuda:
        torch.cuda.set_sync_debug_mode("error")
    try:
        compute()
    except RuntimeError as error:
        if "synchronizing" not in str(error):
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{error}, {Path(last.filename).name}, line {last.lineno}: {last.line}"
    finally:
        if setting.cuda:
            torch.cuda.set_sync_debug_mode("default")
    return ""
