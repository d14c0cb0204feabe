"""Copies on a stream of their own, as late as its order allows: what CUDA may do, on a CPU.

A copy runs when somebody waits for it, and not before. Computation runs at once.
"""

from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
import torch
from torch_runs import assert_generated, executor, model
from torch_storms import STORM

from hwmodels.torch_executor.step.pool import KVPool, LayerShape
from hwmodels.torch_executor.testing import Emitting
from sched_core import Engine, EngineConfig, Policy, Swap, Workload


class LateStream:
    """Work that waits to be waited for."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._given = 0

    def put(self, copy: Callable[[], None]) -> None:
        self._waiting.append(copy)
        self._given += 1

    def wait_stream(self, stream: Any) -> None:
        """Computation has run already."""

    def record_event(self) -> int:
        """An event is how much work was given before it."""
        return self._given

    def wait_event(self, event: int) -> None:
        while self._given - len(self._waiting) < event:
            self._waiting.popleft()()

    def synchronize(self) -> None:
        self.wait_event(self._given)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> LateStream:
    """Every pool made now copies late."""
    stream, make, copy = LateStream(), KVPool.__init__, KVPool._copy

    def made(pool: KVPool, *how: Any, **more: Any) -> None:
        make(pool, *how, **more)
        pool._copies = stream

    def put(pool: KVPool, *what: Any) -> None:
        stream.put(partial(copy, pool, *what))

    monkeypatch.setattr(KVPool, "__init__", made)
    monkeypatch.setattr(KVPool, "_copy", put)
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    return stream


CONFIG = EngineConfig(
    max_num_batched_tokens=40,
    block_size=4,
    num_gpu_blocks=21,
    num_cpu_blocks=100,
    scheduler_reserve_full_isl=False,
)


def stormed(policy: str) -> Emitting:
    """A storm without NaN: whoever poisons a block waits for its copies first."""
    watched = executor("tiny-llama", CONFIG.block_size)
    real = Emitting(watched.runner, watched.prompts, watched.costs, {})
    engine = Engine(CONFIG, Policy.from_spec(policy), real, Workload(STORM))
    recorder = engine.run()
    assert recorder.swap_ins > 3
    return real


@pytest.mark.parametrize("policy", ["fcfs+swap", "youngest+swap", "largest-kv+swap"])
def test_tokens_are_those_of_generate(policy: str, late: LateStream) -> None:
    real = stormed(policy)
    assert late.record_event() > 3
    assert_generated(real, STORM)


def test_a_copy_is_as_late_as_it_may_be(late: LateStream) -> None:
    pool = KVPool([LayerShape(1, 1, 1)], 4, torch.float64, torch.device("cpu"))
    pool.reserve(3, 3)
    pool.device[0][2] = 7.0
    pool.swap_out([Swap("r", (2,), (3,))])
    pool.before_use([1, 3])
    assert pool.host[0][3].eq(0).all()
    pool.before_use([1, 2])
    assert pool.host[0][3].eq(7).all()


def nothing_waits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(KVPool, "before_use", lambda pool, blocks: None)


def _without_events_of(patch: pytest.MonkeyPatch, name: str) -> None:
    original = getattr(KVPool, name)

    def copied(pool: KVPool, swaps: Any) -> None:
        before = dict(pool._leaving)
        original(pool, swaps)
        pool._leaving = before

    patch.setattr(KVPool, name, copied)


def blocks_are_written_while_copied_out(patch: pytest.MonkeyPatch) -> None:
    _without_events_of(patch, "swap_out")


def blocks_are_read_before_they_are_back(patch: pytest.MonkeyPatch) -> None:
    _without_events_of(patch, "swap_in")


def events_before_the_copy(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LateStream, "record_event", lambda stream: stream._given - 1)


FAULTS = [
    nothing_waits,
    blocks_are_written_while_copied_out,
    blocks_are_read_before_they_are_back,
    events_before_the_copy,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_missing_wait_is_caught(
    fault: Callable[[pytest.MonkeyPatch], None], late: LateStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    model("tiny-llama")
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        assert_generated(stormed("youngest+swap"), STORM)
