"""Hash ids as chains: an id stands for a block after one prefix, so it has one predecessor."""

from collections.abc import Iterator, Sequence
from itertools import count

import attrs

from sched_core.workload.spec import HashedPrefix, RequestSpec


def separated(requests: Sequence[RequestSpec]) -> tuple[Sequence[RequestSpec], str | None]:
    """The requests with one id per block and prefix, and which ids stood for several blocks.

    An id after a second prefix is another block, since K and V depend on all tokens before: it
    gets an id of its own, that nobody else has. Chains stay as they are, and the answer is None.
    """
    rows = [request.prefix for request in requests if isinstance(request.prefix, HashedPrefix)]
    links = {link for row in rows for link in _links(row.ids)}
    if len(links) == len({block for _, block in links}):
        return requests, None
    tree = _Tree(1 + max(block for _, block in links))
    return [_replaced(request, tree) for request in requests], tree.told()


def _links(ids: Sequence[int]) -> Iterator[tuple[int | None, int]]:
    """Each id with the one before it, None before the first."""
    return zip((None, *ids), ids, strict=False)


def _replaced(request: RequestSpec, tree: "_Tree") -> RequestSpec:
    prefix = request.prefix
    if not isinstance(prefix, HashedPrefix):
        return request
    return attrs.evolve(request, prefix=attrs.evolve(prefix, ids=tree.chain(prefix.ids)))


class _Tree:
    """Blocks by the block before them: the first to bear an id keeps it."""

    def __init__(self, unused: int) -> None:
        self._fresh = count(unused)
        self._blocks: dict[tuple[int | None, int], int] = {}
        self._taken: set[int] = set()
        self._ambiguous: dict[int, None] = {}

    def chain(self, ids: Sequence[int]) -> tuple[int, ...]:
        """The ids of the blocks that a row means."""
        blocks: list[int] = []
        before = None
        for name in ids:
            known = self._blocks.get((before, name))
            before = self._new(before, name) if known is None else known
            blocks.append(before)
        return tuple(blocks)

    def _new(self, before: int | None, name: int) -> int:
        block = name
        if name in self._taken:
            block = next(self._fresh)
            self._ambiguous[name] = None
        self._taken.add(name)
        self._blocks[before, name] = block
        return block

    def told(self) -> str:
        first = next(iter(self._ambiguous))
        more = len(self._ambiguous) - 1
        others = f" and {more} more" if more else ""
        return f"no chain: {first}{others} after several prefixes, each counted as another block"
