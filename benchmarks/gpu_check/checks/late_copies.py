"""Does a step wait for copies between device and host that are late?

On CUDA every copy stands behind a kernel that does nothing for a while. A check that cannot fail
shows nothing, so the same is done without the wait too, and must then go wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from gpu_check.check import Outcome, Setting
from gpu_check.runs import BLOCK_SIZE, differing, expected, loaded, run
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import ScheduledRequest, Swap

LONG = 400_000_000
"""Cycles of the device's clock: 0.2 s at 2 GHz, and a step takes some milliseconds."""
SHORT = LONG // 40

PROMPT = list(range(1, 65))
OTHER = list(range(101, 165))
BLOCKS = len(PROMPT) // BLOCK_SIZE


def table(first: int) -> tuple[int, ...]:
    """As many blocks as a prompt takes."""
    return tuple(range(first, first + BLOCKS))


class LatePool(KVPool):
    """Its copies begin `cycles` late; computation does not wait for them where `waits` is False."""

    cycles = 0
    waits = True

    def swap_out(self, swaps: Iterable[Swap]) -> None:
        self._sleep(swaps)
        super().swap_out(swaps)

    def swap_in(self, swaps: Iterable[Swap]) -> None:
        self._sleep(swaps)
        super().swap_in(swaps)

    def before_use(self, blocks: Iterable[int]) -> None:
        if self.waits:
            super().before_use(blocks)

    def _sleep(self, swaps: Iterable[Swap]) -> None:
        if self._copies is not None and self.cycles and swaps:
            with torch.cuda.stream(self._copies):
                torch.cuda._sleep(self.cycles)


def check(setting: Setting) -> Outcome:
    """Both ways, with the wait and without; then a whole run of late copies."""
    rows, wrong = [], []
    for claim, scene in SCENES.items():
        right = scene(setting, True)
        fault = not scene(setting, False) if setting.cuda else None
        rows.append({"claim": claim, "right": right, "fault_seen": fault})
        if not right:
            wrong.append(f"it is not so that {claim}")
        if fault is False:
            wrong.append(f"{claim}, without any wait too: this shows nothing")
    different = _run_of_late_copies(setting)
    left_out = [] if setting.cuda else ["copies on a CPU are not late, and no fault is put in"]
    return Outcome({"scenes": rows, "run_is_right": not different}, wrong + different, left_out)


def swapped_out(setting: Setting, waits: bool) -> bool:
    """Copy blocks out, and compute another request in them in the same step."""
    runner, pool = _runner(setting)
    _run(runner, PROMPT, ScheduledRequest("a", len(PROMPT), 0, table(1), True))
    before = _held(pool.device, table(1))
    leave = [Swap("a", table(1), table(1))]
    rehearsed = ScheduledRequest("b", len(OTHER), 0, table(1 + BLOCKS), True)
    _run(runner, OTHER, rehearsed, out=leave)  # memory is there, kernels are loaded
    pool.wait_for_copies()
    pool.poison((), table(1))
    pool.cycles, pool.waits = LONG, waits
    _run(runner, OTHER, rehearsed._replace(block_ids=table(1)), out=leave)
    pool.wait_for_copies()
    return _same(_held(pool.host, table(1)), before)


def swapped_in(setting: Setting, waits: bool) -> bool:
    """Copy blocks back, and compute a token that reads them in the same step."""
    runner, pool = _runner(setting)
    _run(runner, PROMPT, ScheduledRequest("a", len(PROMPT), 0, table(1), True))
    known, last = [*PROMPT, OTHER[0]], 3 * BLOCKS
    decode = ScheduledRequest("a", 1, len(PROMPT), (*table(1), last), True)
    stayed = _run(runner, known, decode), _held(pool.device, [last])
    _run(runner, known, None, out=[Swap("a", table(1), table(1))])
    pool.poison((*table(1 + BLOCKS), last))
    pool.cycles, pool.waits = LONG, waits
    moved = decode._replace(block_ids=(*table(1 + BLOCKS), last))
    token = _run(runner, known, moved, back=[Swap("a", table(1), table(1 + BLOCKS))])
    pool.wait_for_copies()
    return token == stayed[0] and _same(_held(pool.device, [last]), stayed[1])


SCENES: dict[str, Callable[[Setting, bool], bool]] = {
    "the host gets what blocks held before the step used them again": swapped_out,
    "what comes back is there when the step reads it": swapped_in,
}


def _runner(setting: Setting) -> tuple[StepRunner, LatePool]:
    model = loaded("tiny-llama", setting.on)
    pool = LatePool(model.layers, BLOCK_SIZE, model.dtype, model.device, fill=torch.nan)
    pool.reserve(3 * BLOCKS, BLOCKS)
    return StepRunner(model, pool), pool


def _run(
    runner: StepRunner,
    known: Sequence[int],
    share: ScheduledRequest | None,
    out: Sequence[Swap] = (),
    back: Sequence[Swap] = (),
) -> Any:
    shares = [share] if share else []
    runner.tokens = {one.id: list(known) for one in shares}
    return runner.run(shares, out, back).tokens


def _held(tensors: Sequence[torch.Tensor], blocks: Sequence[int]) -> list[torch.Tensor]:
    """A copy of what blocks hold, slots never written as 0."""
    return [tensor[list(blocks)].cpu().nan_to_num(nan=0.0) for tensor in tensors]


def _same(found: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> bool:
    return all(map(torch.equal, found, right))


def _run_of_late_copies(setting: Setting) -> list[str]:
    """Requests that get other tokens where every swap is late. (NaN would be written in time.)"""
    runner, pool = _runner(setting)
    pool.cycles = SHORT
    found = run(setting, runner, "fcfs+swap", poisoned=False)
    reasons = [] if found.swap_outs else ["nobody was swapped out"]
    return [f"a run: {one}" for one in reasons + differing(found, expected(setting, "tiny-llama"))]
