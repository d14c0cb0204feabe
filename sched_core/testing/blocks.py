"""A: no KV block is lost, doubled or written by two."""

from collections import Counter
from collections.abc import Iterator

from sched_core.testing.observe import STEP_CHECKS, Observed, invariant


@invariant("A1 blocks are conserved", STEP_CHECKS)
def blocks_are_conserved(seen: Observed) -> Iterator[str]:
    """Every block is in use or free, and in the free list once."""
    kv = seen.state.kv
    used = {block for request in seen.holders for block in request.blocks}
    yield from _partition("device", kv.num_blocks, used, kv.device.free_order())
    used = {block for request in seen.waiting for block in request.host_blocks}
    yield from _partition("host", kv.num_host_blocks, used, kv.host.free_order())


def _partition(where: str, total: int, used: set[int], free: list[int]) -> Iterator[str]:
    if len(set(free)) != len(free):
        yield f"a {where} block is twice in the free list"
    if used & set(free):
        yield f"{where} blocks {sorted(used & set(free))} are in use and free"
    if len(used) + len(free) != total:
        yield f"{len(used)} {where} blocks in use + {len(free)} free is not {total}"


@invariant("A2 tables fit what is computed", STEP_CHECKS)
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
        if request in seen.state.held:
            continue
        if request.blocks or request.host_blocks:
            yield f"{request.id} is finished and holds {request.blocks}, {request.host_blocks}"


@invariant("A3 reference counts are owners", STEP_CHECKS)
def references_are_owners(seen: Observed) -> Iterator[str]:
    """A block's count is the number of tables that hold it."""
    tables = Counter(block for request in seen.holders for block in request.blocks)
    for block, owners in tables.items():
        if seen.state.kv.device.owners(block) != owners:
            yield f"block {block} is in {owners} tables, its count is otherwise"


@invariant("A6 shared blocks are full", STEP_CHECKS)
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


@invariant("A7 an empty system holds nothing", STEP_CHECKS)
def empty_holds_nothing(seen: Observed) -> Iterator[str]:
    """With nobody in the system all blocks are free."""
    kv = seen.state.kv
    if not seen.running and not seen.waiting:
        if kv.free_blocks != kv.num_blocks:
            yield f"{kv.num_blocks - kv.free_blocks} device blocks are still in use"
        if kv.free_host_blocks != kv.num_host_blocks:
            yield f"{kv.num_host_blocks - kv.free_host_blocks} host blocks are still in use"
