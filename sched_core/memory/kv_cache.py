"""KV-cache memory: which request holds which blocks, on the device and on the host."""

from collections.abc import Hashable, Sequence

from sched_core.execution.plan import Swap
from sched_core.memory.block_pool import BlockPool
from sched_core.request import Request
from sched_core.workload.spec import HashedPrefix, SharedPrefix


class KVCache:
    """Which request holds which blocks. Every operation succeeds whole or changes nothing."""

    def __init__(
        self, num_blocks: int, block_size: int, num_host_blocks: int = 0, *, caching: bool = False
    ) -> None:
        self.block_size = block_size
        self.num_blocks = num_blocks
        self.num_host_blocks = num_host_blocks
        self.caching = caching
        self.device = BlockPool(num_blocks)
        self.host = BlockPool(num_host_blocks)
        self.by_count = False
        """Are the blocks that decodes take only counted, since nobody reads which they are?"""
        self.owed = 0
        """Blocks counted so, which no table holds yet: `settle`."""
        self._host_leaving: list[list[int]] = []  # tables that this step copies to the device
        self.prefix_queries = 0
        self.prefix_hits = 0

    @property
    def free_blocks(self) -> int:
        """Device blocks that can be taken."""
        return self.device.num_free - self.owed

    @property
    def free_host_blocks(self) -> int:
        """Host blocks that can be taken."""
        return self.host.num_free

    def blocks_for(self, tokens: int) -> int:
        """Blocks that hold `tokens` tokens."""
        return -(-tokens // self.block_size)

    # -- prefix cache ---------------------------------------------------------------------------

    def hits(self, request: Request) -> list[int]:
        """Device blocks that already hold part of what a waiting request needs.

        For a swapped one they stand in for copies; else they are the blocks that begin its known
        tokens, and at least one token stays to be computed.
        """
        if not self.caching:
            return []
        if request.hits_version != self.device.version:  # a waiting head is asked in every step
            request.hits = self._find(request)
            request.hits_version = self.device.version
        return request.hits

    def _find(self, request: Request) -> list[int]:
        if request.host_blocks:
            found = self._lookup(self.device, request, request.computed)
            return [block for block in found if block is not None]
        hits: list[int] = []
        for index in range((request.known - 1) // self.block_size):
            block = self.device.find(block_key(request, index, self.block_size))
            if block is None:
                break
            hits.append(block)
        return hits

    def _lookup(self, pool: BlockPool, request: Request, tokens: int) -> list[int | None]:
        """For each block of `tokens` tokens, one of `pool` with that content."""
        size, count = self.block_size, self.blocks_for(tokens)
        if not self.caching:
            return [None] * count
        return [
            pool.find(block_key(request, index, size)) if (index + 1) * size <= tokens else None
            for index in range(count)
        ]

    def cached_prefix(self, request: Request) -> int:
        """Tokens that `hits` would save a request from computing."""
        return 0 if request.host_blocks else len(self.hits(request)) * self.block_size

    def start_of(self, request: Request, hits: Sequence[int]) -> int:
        """First position that a waiting request would have to compute."""
        return request.computed if request.host_blocks else len(hits) * self.block_size

    def blocks_taken(self, tokens: int, hits: Sequence[int]) -> int:
        """Free blocks used up by a table of `tokens` tokens that starts with `hits`."""
        if not hits:
            return -(-tokens // self.block_size)
        # a hit that nobody owns is among the free blocks now, and will not be
        return self.blocks_for(tokens) - len(hits) + self.device.cost_of(hits)

    def register(self, request: Request, tokens: int) -> None:
        """Make the full device blocks among the first `tokens` tokens findable."""
        if self.caching:
            self._register(self.device, request, request.blocks, request.registered, tokens)
            request.registered = max(request.registered, tokens // self.block_size)

    def _register(
        self, pool: BlockPool, request: Request, table: Sequence[int], start: int, tokens: int
    ) -> None:
        for index in range(start, tokens // self.block_size):
            pool.register(table[index], block_key(request, index, self.block_size))

    def forget(self, request: Request) -> None:
        """Withdraw what was registered of tokens that will not be computed after all."""
        for index in range(request.computed // self.block_size, request.registered):
            self.device.unregister(request.blocks[index])
        request.registered = min(request.registered, request.computed // self.block_size)

    def is_relied_on(self, request: Request) -> bool:
        """Does another request share a block that this one has still to compute?"""
        if not self.caching:
            return False
        owed = request.blocks[request.computed // self.block_size :]
        return self.device.unshared(owed) < len(owed)

    # -- device blocks --------------------------------------------------------------------------

    def grow(self, request: Request, tokens: int) -> bool:
        """Extend a running request's table to hold `tokens` tokens; False if blocks are short."""
        missing = -(-tokens // self.block_size) - len(request.blocks)
        if missing > self.device.num_free - self.owed:
            return False
        if missing > 0:
            request.blocks += self.device.take(missing)
        if self.caching:  # before it is computed: later in this very step others may count on it
            self.register(request, min(tokens, request.known))
        return True

    def grow_one(self, request: Request) -> None:
        """Give a decode its next block; one must be free."""
        if self.by_count:
            self.owed += 1
        else:
            request.blocks.append(self.device.take_one())

    def settle(self, request: Request, tokens: int) -> None:
        """Make the table of a request that holds `tokens` tokens whole."""
        if self.owed and (missing := self.blocks_for(tokens) - len(request.blocks)) > 0:
            request.blocks += self.device.take(missing)
            self.owed -= missing

    def admit(self, request: Request, hits: Sequence[int], tokens: int) -> None:
        """Build a table of `tokens` tokens on top of `hits`; the blocks must be free."""
        missing = self.blocks_for(tokens) - len(hits)
        if not self.caching:
            request.blocks = self.device.take(missing)
            return
        request.blocks = self.device.assemble([*hits, *[None] * missing])
        request.registered = len(hits)
        if not request.preemptions:  # vLLM counts a prompt once
            self.prefix_queries += request.known
            self.prefix_hits += len(hits) * self.block_size
        self.register(request, min(tokens, request.known))

    def release(self, request: Request) -> None:
        """Take everything back that the request holds, on device and host; twice is once."""
        # decodes fill blocks unregistered (`grow_one`): what is full by now stays findable
        self.register(request, min(request.computed, len(request.blocks) * self.block_size))
        request.hits_version = -1
        if self.owed and (missing := self.blocks_for(request.computed) - len(request.blocks)) > 0:
            self.owed -= missing
        self.device.give_back(request.blocks)
        self.host.give_back(request.host_blocks)
        request.blocks, request.host_blocks, request.registered = [], [], 0

    def freed_by(self, request: Request) -> int:
        """Device blocks that `release` would free."""
        return self.device.unshared(request.blocks)

    # -- host blocks ----------------------------------------------------------------------------

    def swap_out(self, request: Request) -> Swap | None:
        """Move the computed tokens' blocks to the host; None if the host pool is too small.

        Blocks whose content is on the host already, for another victim, are not copied again.
        """
        found = self._lookup(self.host, request, request.computed)
        if not found or self.host.cost_of(found) > self.free_host_blocks:
            return None
        table = request.blocks[: len(found)]
        targets = self.host.assemble(found)
        if self.caching:
            self._register(self.host, request, targets, 0, request.computed)
        self.release(request)
        request.host_blocks = targets
        return _copies(request, found, table, targets)

    def swap_in(self, request: Request, tokens: int) -> Swap:
        """Bring a swapped request back with room for `tokens` tokens, which must be free.

        Blocks whose content is on the device already are shared, not copied.
        """
        sources = request.host_blocks
        found = self._lookup(self.device, request, request.computed)
        more = self.blocks_for(tokens) - len(found)
        request.blocks = self.device.assemble([*found, *[None] * more])
        request.host_blocks = []
        self._host_leaving.append(sources)
        self.register(request, min(tokens, request.known))
        return _copies(request, found, sources, request.blocks)

    def end_step(self) -> None:
        """The step's copies are done: host blocks that were read may be written again."""
        for sources in self._host_leaving:
            self.host.give_back(sources)
        self._host_leaving.clear()


def _copies(
    request: Request, found: Sequence[int | None], sources: Sequence[int], targets: Sequence[int]
) -> Swap:
    """The copies that are needed where `found` has nothing."""
    missing = [index for index, block in enumerate(found) if block is None]
    return Swap(
        request.id,
        tuple(sources[index] for index in missing),
        tuple(targets[index] for index in missing),
    )


def block_key(request: Request, index: int, block_size: int) -> Hashable:
    """What identifies the content of a full block and all before it (vLLM's hash chain)."""
    end, prefix = (index + 1) * block_size, request.prefix
    if isinstance(prefix, SharedPrefix) and end <= min(prefix.len, request.prompt_len):
        return ("group", prefix.group, index)
    if isinstance(prefix, HashedPrefix):
        known = prefix if end <= request.prompt_len else request.answer
        if known is not None and end <= len(known.ids) * known.block_size:
            chunk = (end - 1) // known.block_size
            return ("hash", known.ids[chunk], end - chunk * known.block_size)
    if request.stream is not None:
        return ("session", *request.stream, index)
    return (request.submitted_seq, index)
