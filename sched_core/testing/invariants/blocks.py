"""A, after every step: tables fit what is computed, and what is shared is whole."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sched_core.memory.block_pool import BlockPool
from sched_core.testing.invariants.observe import Observed, held
from sched_core.testing.invariants.registry import invariant


@invariant("A2 tables fit what is computed", "step")
def tables_fit(seen: Observed) -> Iterator[str]:
    """Running: ceil(computed / block size) device blocks; swapped: as many on the host."""
    kv = seen.state.kv
    for request in seen.running:
        need = kv.blocks_for(seen.after[request].computed)
        if len(request.blocks) != need or request.host_blocks:
            yield f"{request.id} runs with {len(request.blocks)} blocks, not {need}"
    for request in seen.waiting:
        need = kv.blocks_for(seen.after[request].computed)
        if request.blocks or len(request.host_blocks) != need:
            yield f"{request.id} waits with {request.blocks} and {request.host_blocks}, not {need}"
    for request in seen.finished:
        if request.host_blocks or (request.blocks and request not in held(seen.state)):
            yield f"{request.id} is finished and holds {request.blocks}, {request.host_blocks}"


@invariant("A3 reference counts are owners", "step")
def references_are_owners(seen: Observed) -> Iterator[str]:
    """A block's count is the number of tables that hold it, on the device and on the host."""
    kv = seen.state.kv
    yield from _miscounted(kv.device, [request.blocks for request in seen.holders])
    yield from _miscounted(kv.host, [request.host_blocks for request in seen.waiting])


def _miscounted(pool: BlockPool, tables: Iterable[Sequence[int]]) -> Iterator[str]:
    for block, owners in Counter(block for table in tables for block in table).items():
        if pool.owners(block) != owners:
            yield f"block {block} is in {owners} tables, its count is {pool.owners(block)}"


@invariant("A6 shared blocks are full", "step")
def shared_blocks_are_full(seen: Observed) -> Iterator[str]:
    """A block with two owners stands at one place in both tables and is never written."""
    size = seen.state.config.block_size
    place: dict[int, int] = {}
    owners = Counter(block for request in seen.holders for block in request.blocks)
    for request in seen.holders:
        for index, block in enumerate(request.blocks):
            if owners[block] == 1:
                continue
            if place.setdefault(block, index) != index:
                yield f"block {block} is at two places"
            if (index + 1) * size > seen.state.lockstep.computed(request):
                yield f"{request.id} still writes shared block {block}"
            if not seen.state.config.enable_prefix_caching:
                yield f"block {block} is shared without a prefix cache"


@invariant("A7 an empty system holds nothing", "step")
def empty_holds_nothing(seen: Observed) -> Iterator[str]:
    """With nobody in the system all blocks are free."""
    kv = seen.state.kv
    if not seen.running and not seen.waiting:
        if kv.free_blocks != kv.num_blocks:
            yield f"{kv.num_blocks - kv.free_blocks} device blocks are still in use"
        if kv.free_host_blocks != kv.num_host_blocks:
            yield f"{kv.num_host_blocks - kv.free_host_blocks} host blocks are still in use"
