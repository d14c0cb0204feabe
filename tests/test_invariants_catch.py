"""Tests of the tests: deliberate faults in the engine, each caught by the check named for it."""

from collections.abc import Callable
from typing import Any

import pytest
from harness import requests

from hwmodels.constant import Constant
from sched_core.batch import Batch
from sched_core.config import EngineConfig
from sched_core.kv_cache import BlockPool, KVCache
from sched_core.lockstep import Lockstep
from sched_core.policy import Policy
from sched_core.records import Recorder
from sched_core.request import Request, RequestSpec, SharedPrefix
from sched_core.scheduler import Scheduler
from sched_core.testing.invariants import FCFS, GENERAL
from sched_core.testing.registry import InvariantError
from sched_core.testing.runs import run_watched

TIGHT = "R0(32,32,@0) R1(32,32,@0) R2(20,30,@1) R3(7,5,@3)"


def run(specs: Any = TIGHT, policy: str = "fcfs", **settings: Any) -> None:
    config = EngineConfig(
        **{"max_num_batched_tokens": 40, "block_size": 8, "num_gpu_blocks": 12, **settings}
    )
    listed = requests(specs) if isinstance(specs, str) else specs
    executor = Constant(step=1.0).executor(None, block_size=8)
    checks = FCFS if policy == "fcfs" else GENERAL
    run_watched(listed, config, Policy.from_spec(policy), executor, checks=checks)


def leak_a_block(original: Any) -> Callable[..., None]:
    def release(self: KVCache, request: Request) -> None:
        if len(request.blocks) > 3:
            request.blocks.pop()
        original(self, request)

    return release


def free_twice(original: Any) -> Callable[..., None]:
    def release(self: KVCache, request: Request) -> None:
        self.device.give_back(request.blocks[:1])
        original(self, request)

    return release


def never_spend(_: Any) -> Callable[..., None]:
    def spend(self: Batch, tokens: int) -> None:
        self._state.granted += tokens

    return spend


def keep_victim_in_plan(original: Any) -> Callable[..., None]:
    def withdraw(self: Batch, victim: Request) -> None:
        grants = dict(self.grants)
        original(self, victim)
        self.grants = grants or {victim: 1}

    return withdraw


def forget_emitted(original: Any) -> Callable[..., None]:
    def preempt(self: Scheduler, batch: Batch, victim: Request, for_whom: Request) -> None:
        original(self, batch, victim, for_whom)
        victim.emitted = 0

    return preempt


def skip_tick(original: Any) -> Callable[..., Any]:
    def advance(self: Lockstep, end_ns: int) -> Any:
        done = original(self, end_ns)
        self.tick += self.tick == 20
        return done

    return advance


def lose_gap(original: Any) -> Callable[..., None]:
    def gaps(self: Recorder, gap_ns: int, count: int) -> None:
        original(self, gap_ns, count - (count > 1))

    return gaps


def drop_request(original: Any) -> Callable[..., None]:
    def preempt(self: Scheduler, batch: Batch, victim: Request, for_whom: Request) -> None:
        original(self, batch, victim, for_whom)
        self.state.waiting.remove(victim)

    return preempt


def oldest_victim(_: Any) -> Callable[..., Request]:
    return lambda self: self.state.running[0]


FAULTS = [
    (KVCache, "release", leak_a_block, "A1"),
    (KVCache, "release", free_twice, "A1"),
    (Batch, "_spend", never_spend, "B2"),
    (Batch, "withdraw", keep_victim_in_plan, "A2"),
    (Scheduler, "_preempt", forget_emitted, "B4"),
    (Lockstep, "advance", skip_tick, "B1"),
    (Recorder, "gaps", lose_gap, "F3"),
    (Scheduler, "_preempt", drop_request, "E1"),
    (Scheduler, "_last_in_order", oldest_victim, "D1"),
]


@pytest.mark.parametrize(("owner", "method", "fault", "name"), FAULTS)
def test_fault_is_caught(
    monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, fault: Any, name: str
) -> None:
    run()
    monkeypatch.setattr(owner, method, fault(getattr(owner, method)))
    with pytest.raises(InvariantError) as caught:
        run()
    assert caught.value.name.startswith(name), caught.value


def test_wrong_reference_count_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = [
        RequestSpec(f"r{i}", float(i), 30, 20, prefix=SharedPrefix("g", 24)) for i in range(3)
    ]
    run(shared, num_gpu_blocks=40, enable_prefix_caching=True)
    monkeypatch.setattr(BlockPool, "share", lambda self, block: self._stale.pop(block, None))
    with pytest.raises(InvariantError, match="A3"):
        run(shared, num_gpu_blocks=40, enable_prefix_caching=True)


def test_swap_that_frees_host_blocks_too_early_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    run(policy="fcfs+swap", num_cpu_blocks=20)
    monkeypatch.setattr(KVCache, "end_step", lambda self: None)
    with pytest.raises(InvariantError, match=r"A7.*host"):
        run(policy="fcfs+swap", num_cpu_blocks=20)
