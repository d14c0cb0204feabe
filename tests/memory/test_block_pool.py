"""Any order of operations on the memory of device and host, step by step, under audit."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sched_core.execution.plan import Swap
from sched_core.memory.block_pool import BlockPool
from sched_core.memory.kv_cache import KVCache
from sched_core.request import Request, RequestState
from sched_core.testing.invariants import GENERAL
from sched_core.testing.invariants.memory import AuditedKVCache
from sched_core.testing.invariants.shadow import ShadowMemory, token
from sched_core.workload.spec import RequestSpec, SharedPrefix

SIZES = st.sampled_from((1, 2, 4))
SHARES = st.sampled_from((0.0, 0.4, 0.7, 1.0))
MOSTLY = st.sampled_from((True, True, False))
GROUPS = st.sampled_from((0, 0, 0, 1))


class Memory(RuleBasedStateMachine):
    """Requests come, compute in steps, lose their place with or without their blocks, and end.

    AuditedKVCache checks A1, A4, A5 and B7 at every operation; what is left is checked below.
    """

    @initialize(size=SIZES, blocks=st.integers(4, 16), host=st.integers(0, 8), caching=MOSTLY)
    def start(self, size: int, blocks: int, host: int, caching: bool) -> None:
        self.kv = AuditedKVCache(blocks, size, host, caching=caching, checks=GENERAL)
        self.count = 0
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self.due: dict[Request, int] = {}
        """Who computes in this step, and up to which position."""
        self.joined: list[Request] = []
        self.shadow = ShadowMemory(size)
        self.specs: dict[str, RequestSpec] = {}
        self.out: list[Swap] = []
        self.into: list[Swap] = []

    def one(self, requests: list[Request], share: float) -> Request:
        return requests[min(int(share * len(requests)), len(requests) - 1)]

    @rule(prompt=st.integers(4, 12), group=GROUPS, shared=MOSTLY, share=SHARES)
    def arrive(self, prompt: int, group: int, shared: bool, share: float) -> None:
        prefix = SharedPrefix(group, prompt if shared else prompt // 3)
        spec = RequestSpec(f"r{self.count}", 0.0, prompt, 99, prefix=prefix)
        self.specs[spec.id] = spec
        self.waiting.append(Request(spec, self.count, 0))
        self.count += 1
        self.admit(1.0, share)

    @precondition(lambda self: self.waiting)
    @rule(who=SHARES, share=SHARES)
    def admit(self, who: float, share: float) -> None:
        """Somebody who waits joins with some of its tokens, if there is room for them."""
        request, kv = self.one(self.waiting, who), self.kv
        hits = kv.hits(request)
        start = kv.start_of(request, hits)
        tokens = start + 1 + int(share * (request.known - start - 1))
        if kv.blocks_taken(tokens, hits) > kv.free_blocks:
            return
        if request.host_blocks:
            self.into.append(kv.swap_in(request, tokens))
        else:
            request.computed = start
            kv.admit(request, hits, tokens)
        request.state = RequestState.RUNNING
        self.waiting.remove(request)
        self.running.append(request)
        self.joined.append(request)
        self.due[request] = tokens

    def grow(self, request: Request, share: float) -> None:
        lack = request.known - request.computed
        tokens = request.computed + 1 + int(share * (lack - 1))
        if self.kv.grow(request, tokens):
            self.due[request] = tokens
        else:
            assert self.kv.blocks_for(tokens) - len(request.blocks) > self.kv.free_blocks

    def tokens(self, request: Request) -> list[Any]:
        return [token(self.specs[request.id], None, place) for place in range(request.known)]

    def withdraw(self, who: float) -> Request | None:
        """Somebody loses its place, if it may; what it was to compute is forgotten."""
        request = self.one(self.running, who)
        if request in self.joined or self.kv.is_relied_on(request):
            return None
        self.running.remove(request)
        self.due.pop(request, None)
        self.kv.forget(request)
        return request

    @precondition(lambda self: self.running)
    @rule(who=SHARES, swap=st.booleans())
    def preempt(self, who: float, swap: bool) -> None:
        request = self.withdraw(who)
        if request is None:
            return
        copies = self.kv.swap_out(request) if swap else None
        if copies is None:
            self.kv.release(request)
            request.computed = 0
        else:
            self.out.append(copies)
        request.state = RequestState.SWAPPED if copies else RequestState.WAITING
        self.waiting.append(request)

    @rule(share=SHARES)
    def step(self, share: float) -> None:
        """One step ends; in the next, as in the engine, those that run come first."""
        self.end_step()
        for request in self.running:
            self.grow(request, share)

    def end_step(self) -> None:
        """The executor copies and computes; everyone's context must be there."""
        self.shadow.copy(self.out, self.into)
        self.out, self.into = [], []
        for request, end in self.due.items():
            start = request.computed
            self.shadow.write(request.blocks, start, self.tokens(request)[start:end])
        for request, end in self.due.items():
            assert self.shadow.read(request.blocks, end) == self.tokens(request)[:end]
        for request, tokens in self.due.items():
            request.computed = tokens
            request.emitted += tokens == request.known
        self.due.clear()
        self.joined.clear()
        self.kv.end_step()

    @precondition(lambda self: not self.due)
    @rule(who=SHARES)
    def end(self, who: float) -> None:
        everyone = self.waiting + self.running
        if everyone:
            request = self.one(everyone, who)
            (self.running if request in self.running else self.waiting).remove(request)
            self.kv.release(request)
            held = (self.kv.free_blocks, self.kv.free_host_blocks)
            self.kv.release(request)
            assert held == (self.kv.free_blocks, self.kv.free_host_blocks)

    @invariant()
    def tables_have_their_owners(self) -> None:
        """A2 and A3, between operations."""
        if not hasattr(self, "kv"):
            return
        for request in self.running:
            tokens = self.due.get(request, request.computed)
            assert len(request.blocks) == self.kv.blocks_for(tokens)
            for block in request.blocks:
                owners = sum(block in other.blocks for other in self.running)
                assert self.kv.device.owners(block) == owners
        for request in self.waiting:
            assert not request.blocks
            assert len(request.host_blocks) in (0, self.kv.blocks_for(request.computed))

    def teardown(self) -> None:
        """A7: when all have gone, everything is free."""
        if hasattr(self, "kv"):
            self.end_step()
            for request in self.waiting + self.running:
                self.kv.release(request)
            assert self.kv.free_blocks == self.kv.num_blocks
            assert self.kv.free_host_blocks == self.kv.num_host_blocks


TestMemory = Memory.TestCase


FAULTS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "an owner is not counted": (BlockPool, "share", lambda pool, b: pool._stale.pop(b, None)),
    "a block is freed twice": (
        BlockPool, "give_back", lambda pool, blocks: pool._fresh.extend([*blocks, *blocks[:1]]),
    ),
    "what was not computed can be hit": (KVCache, "forget", lambda kv, request: None),
    "what others count on is taken": (KVCache, "is_relied_on", lambda kv, request: False),
    "a copy is still being read": (
        KVCache, "end_step", lambda kv: kv._host_leaving.clear(),
    ),
    "any cached block will do": (
        BlockPool, "find", lambda pool, key: next(iter(pool._key_of), None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    once = settings(
        max_examples=1000,
        stateful_step_count=30,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
    )
    with pytest.raises((AssertionError, KeyError)):
        run_state_machine_as_test(Memory, settings=once)
