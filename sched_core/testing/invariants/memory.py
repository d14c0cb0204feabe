"""A, after every operation on memory: the KV cache under audit."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import attrs

from sched_core.memory.kv_cache import KVCache, block_key
from sched_core.request import Request
from sched_core.testing.invariants.registry import Invariant, InvariantError, invariant


class Memory(NamedTuple):
    """All that an operation on one request may change."""

    free: tuple[int, ...]
    host_free: tuple[int, ...]
    cached: dict[int, Hashable]
    host_cached: dict[int, Hashable]
    table: tuple[int, ...]
    host_table: tuple[int, ...]


@attrs.frozen
class Operation:
    """One operation, with the memory before and after it."""

    name: str
    cache: "AuditedKVCache"
    request: Request
    answer: Any
    reused: Sequence[tuple[int, int]]
    """(place in the table, device block) of what was found there and not computed or copied."""
    reused_on_host: Sequence[tuple[int, int]]
    before: Memory
    after: Memory


@invariant("A1 blocks are conserved", "operation")
def blocks_are_conserved(done: Operation) -> Iterator[str]:
    """Every block is in use or free, and in the free list once."""
    cache, after = done.cache, done.after
    yield from _partition("device", cache.num_blocks, cache.in_use(), after.free)
    yield from _partition("host", cache.num_host_blocks, cache.in_use_on_host(), after.host_free)


def _partition(where: str, total: int, used: set[int], free: Sequence[int]) -> Iterator[str]:
    if len(set(free)) != len(free):
        yield f"a {where} block is twice in the free list"
    if not used.isdisjoint(free):
        yield f"{where} blocks {sorted(used.intersection(free))} are in use and free"
    if len(used) + len(free) != total:
        yield f"{len(used)} {where} blocks in use + {len(free)} free is not {total}"


@invariant("A4 what fails changes nothing", "operation")
def failure_changes_nothing(done: Operation) -> Iterator[str]:
    """Tables, free list and cache are as before an allocation that did not succeed."""
    if done.answer in (False, None) and done.name in ("grow", "swap_out"):
        for name, old, new in zip(Memory._fields, done.before, done.after, strict=True):
            if old != new:
                yield f"{done.name} of {done.request.id} failed and left {name} {new}, not {old}"


@invariant("A5 a victim frees what it alone holds", "operation")
def victims_free_their_own(done: Operation) -> Iterator[str]:
    """The free count rises by exactly the blocks that nobody shares."""
    if done.name == "release" or (done.name == "swap_out" and done.answer is not None):
        others = done.cache.in_use(without=done.request)
        own = sum(block not in others for block in done.before.table)
        freed = len(done.after.free) - len(done.before.free)
        if freed != own:
            yield f"{done.name} of {done.request.id} freed {freed} blocks; it alone held {own}"


@invariant("B7 hits hold what they stand for", "operation")
def hits_hold(done: Operation) -> Iterator[str]:
    """Hits begin the table without a gap, leave a token to compute, and have its content."""
    request, cache = done.request, done.cache
    if done.name == "admit":
        if [place for place, _ in done.reused] != list(range(len(done.reused))):
            yield f"{request.id} has hits at {[place for place, _ in done.reused]}"
        if len(done.reused) * cache.block_size >= request.known:
            yield f"{request.id} of {request.known} tokens has hits for all of them"
    for where, reused, contents in (
        ("device", done.reused, cache.contents),
        ("host", done.reused_on_host, cache.host_contents),
    ):
        for place, block in reused:
            if contents.get(block) != block_key(request, place, cache.block_size):
                yield f"{where} block {block} does not hold block {place} of {request.id}"


def _audited(name: str) -> Any:
    """The operation `name` of KVCache under audit; what it calls in turn is not."""

    def method(self: "AuditedKVCache", request: Request, *args: Any) -> Any:
        operation = getattr(KVCache, name)
        return self.audit(name, request, partial(operation, self, request, *args), args)

    return method


class AuditedKVCache(KVCache):
    """A KV cache that checks every operation, and knows by itself what each block holds."""

    grow = _audited("grow")
    grow_one = _audited("grow_one")
    admit = _audited("admit")
    release = _audited("release")
    swap_out = _audited("swap_out")
    swap_in = _audited("swap_in")

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        num_host_blocks: int = 0,
        *,
        caching: bool = False,
        checks: Iterable[Invariant],
    ) -> None:
        super().__init__(num_blocks, block_size, num_host_blocks, caching=caching)
        self._checks = [each for each in checks if each.when == "operation"]
        self._inside = False
        self._holders: dict[Request, None] = {}
        self.contents: dict[int, Hashable] = {}
        """Device block -> what is, or in this step will be, computed into it."""
        self.host_contents: dict[int, Hashable] = {}

    def in_use(self, *, without: Request | None = None) -> set[int]:
        """Device blocks in somebody's table."""
        return {block for each in self._holders if each is not without for block in each.blocks}

    def in_use_on_host(self) -> set[int]:
        """Host blocks in somebody's table, or being read in this step."""
        tables = (*(each.host_blocks for each in self._holders), *self._host_leaving)
        return {block for table in tables for block in table}

    def audit(self, name: str, request: Request, act: Callable[[], Any], args: Any) -> Any:
        """Do what `act` does; raises InvariantError if a rule is broken then."""
        if self._inside:
            return act()
        before, self._inside = self._memory(request), True
        answer = act()
        self._inside = False
        self._holders[request] = None
        reused = _reused(name, request, args, answer, before)
        operation = Operation(name, self, request, answer, *reused, before, self._memory(request))
        for each in self._checks:
            for problem in each.check(operation):
                raise InvariantError(each.name, problem)
        self._note_contents(operation)
        if not (request.blocks or request.host_blocks):
            del self._holders[request]
        return answer

    def _memory(self, request: Request) -> Memory:
        return Memory(
            tuple(self.device.free_order()),
            tuple(self.host.free_order()),
            dict(self.device._key_of),
            dict(self.host._key_of),
            tuple(request.blocks),
            tuple(request.host_blocks),
        )

    def _note_contents(self, done: Operation) -> None:
        request, size = done.request, self.block_size
        old, reused = {*done.before.table}, {block for _, block in done.reused}
        for place, block in enumerate(done.after.table):
            if block not in old and block not in reused:
                self.contents[block] = block_key(request, place, size)
        if not done.after.table:  # what was not computed when they were given back never will be
            for block in done.before.table[request.computed // size :]:
                if block not in self.in_use():
                    self.contents.pop(block, None)
        for place, block in enumerate(done.after.host_table[: request.computed // size]):
            self.host_contents[block] = block_key(request, place, size)


Places = list[tuple[int, int]]


def _reused(
    name: str, request: Request, args: Any, answer: Any, before: Memory
) -> tuple[Places, Places]:
    """What an operation put into the device table and the host table without filling it."""
    if name == "admit":
        return list(enumerate(args[0])), []
    if name == "swap_in":
        table = request.blocks[: len(before.host_table)]
        return [(i, block) for i, block in enumerate(table) if block not in answer.targets], []
    if name == "swap_out" and answer is not None:
        table = request.host_blocks
        return [], [(i, block) for i, block in enumerate(table) if block not in answer.targets]
    return [], []
