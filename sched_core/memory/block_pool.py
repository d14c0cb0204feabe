"""A pool of KV-cache blocks: who owns which, what is cached, and which free one is taken next.

The free order is vLLM's: blocks without content first, last freed first; then free blocks that
are still cached, least recently freed first, the tail of a chain before its head.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence


class BlockPool:
    """Blocks 1..num_blocks: each is in use (by one owner or more), free, or free and cached."""

    __slots__ = (
        "_by_key",
        "_fresh",
        "_key_of",
        "_sharers",
        "_stale",
        "_unused",
        "num_blocks",
        "num_free",
        "version",
    )

    def __init__(self, num_blocks: int) -> None:
        self.num_blocks = num_blocks
        self.num_free = num_blocks
        """Blocks that can be taken, cached ones included."""
        self.version = 0
        """Grows whenever what `find` answers may have changed."""
        self._fresh: list[int] = []  # blocks given back without content; the end is the front
        self._unused = num_blocks  # and behind them those never taken: the last so many ids
        self._stale: OrderedDict[int, None] = OrderedDict()
        self._sharers: dict[int, int] = {}  # owners beyond the first, where there are any
        self._by_key: dict[Hashable, dict[int, None]] = {}
        self._key_of: dict[int, Hashable] = {}

    @property
    def num_cached_free(self) -> int:
        """Free blocks whose content could still be hit."""
        return len(self._stale)

    def free_order(self) -> list[int]:
        """Free block ids in the order in which they would be taken."""
        unused = range(self.num_blocks - self._unused + 1, self.num_blocks + 1)
        return [*reversed(self._fresh), *unused, *self._stale]

    def take(self, count: int) -> list[int]:
        """`count` free blocks, each with one owner; there must be that many."""
        if count == 0:
            return []
        self.num_free -= count
        taken = self._fresh[: -count - 1 : -1]
        del self._fresh[-count:]
        if len(taken) < count:
            taken.extend(self._take_unused(count - len(taken)))
        while len(taken) < count:
            taken.append(self._evict())
        return taken

    def _take_unused(self, most: int) -> range:
        first = self.num_blocks - self._unused + 1
        count = min(most, self._unused)
        self._unused -= count
        return range(first, first + count)

    def take_one(self) -> int:
        """A free block; there must be one."""
        self.num_free -= 1
        if self._fresh:
            return self._fresh.pop()
        if self._unused:
            self._unused -= 1
            return self.num_blocks - self._unused
        return self._evict()

    def _evict(self) -> int:
        block, _ = self._stale.popitem(last=False)
        self.unregister(block)
        return block

    def give_back(self, blocks: Sequence[int]) -> None:
        """End one ownership of each of `blocks`, given in table order."""
        if not self._key_of:  # nothing is cached, so nothing is shared, and no order counts
            self._fresh.extend(blocks)
            self.num_free += len(blocks)
            return
        for block in reversed(blocks):
            if others := self._sharers.pop(block, 0):
                if others > 1:
                    self._sharers[block] = others - 1
                continue
            self.num_free += 1
            if block in self._key_of:
                self._stale[block] = None
            else:
                self._fresh.append(block)

    def register(self, block: int, key: Hashable) -> None:
        """Make an owned block's content findable; a twin with the same content may exist."""
        self._by_key.setdefault(key, {})[block] = None
        self._key_of[block] = key
        self.version += 1

    def unregister(self, block: int) -> None:
        """Make a block's content unfindable."""
        self.version += 1
        key = self._key_of.pop(block)
        twins = self._by_key[key]
        del twins[block]
        if not twins:
            del self._by_key[key]

    def find(self, key: Hashable) -> int | None:
        """A block that holds the content of `key`: the one cached first."""
        twins = self._by_key.get(key)
        return next(iter(twins)) if twins else None

    def share(self, block: int) -> None:
        """Add an owner to a cached block, which leaves the free list if it was there."""
        if block in self._stale:
            del self._stale[block]
            self.num_free -= 1
        else:
            self._sharers[block] = self._sharers.get(block, 0) + 1

    def cost_of(self, table: Sequence[int | None]) -> int:
        """Free blocks used up by `assemble`: those to be taken, and cached ones without owner."""
        stale = self._stale
        return sum(block is None or block in stale for block in table)

    def assemble(self, table: Sequence[int | None]) -> list[int]:
        """Own every block of `table`, sharing those given and taking free ones for None."""
        for block in table:
            if block is not None:
                self.share(block)
        taken = iter(self.take(sum(block is None for block in table)))
        return [next(taken) if block is None else block for block in table]

    def owners(self, block: int) -> int:
        """Owners of a block that is in use."""
        return 1 + self._sharers.get(block, 0)

    def unshared(self, blocks: Sequence[int]) -> int:
        """How many of these owned blocks have no other owner."""
        if not self._sharers:
            return len(blocks)
        return sum(block not in self._sharers for block in blocks)
