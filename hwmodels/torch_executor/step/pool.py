"""Paged K and V of every layer: blocks on the device, blocks on the host, copies between them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

from sched_core import Swap


class LayerShape(NamedTuple):
    """What one attention layer caches per token."""

    kv_heads: int
    key_dim: int
    value_dim: int


class KVPool:
    """K and V as `[blocks, block_size, kv_heads, head_dim]`, two tensors a layer.

    Block 0 is padding: it stays zero, and whatever a read must leave out is read from there. On a
    CPU the pool grows to the highest block that a plan names; on CUDA it takes all that was
    `expected` at its first use, as a server does. Slots never written hold `fill`; NaN there shows
    every read of one.
    """

    expected = (0, 0)
    """The highest block ids that any plan will name, on the device and on the host."""
    moves = 0
    """How often the device memory got other addresses: a recorded graph holds them."""

    def __init__(
        self,
        shapes: Sequence[LayerShape],
        block_size: int,
        dtype: torch.dtype,
        device: torch.device,
        *,
        fill: float = 0.0,
    ) -> None:
        self.block_size = block_size
        self.fill = fill
        rows = [(s.kv_heads, dim) for s in shapes for dim in (s.key_dim, s.value_dim)]
        self.device = [_zeros(block_size, row, dtype, device) for row in rows]
        self.host = [_zeros(block_size, row, dtype, torch.device("cpu")) for row in rows]
        self.block_bytes = sum(t[0].nbytes for t in self.device)
        self._cuda = device.type == "cuda"
        self._scratch = [tensor.new_empty(0) for tensor in self.device[:2]]
        self._copies = torch.cuda.Stream(device) if self._cuda else None
        self._leaving: dict[int, torch.cuda.Event] = {}  # blocks whose copy-out may still run

    def reserve(self, blocks: int, host_blocks: int) -> None:
        """Make room for block ids up to `blocks` and `host_blocks`."""
        if blocks >= len(self.device[0]):
            self._grow(self.device, max(blocks, self.expected[0] if self._cuda else 0))
            self.moves += 1
        if host_blocks >= len(self.host[0]):
            self._grow(self.host, max(host_blocks, self.expected[1] if self._cuda else 0))

    def _grow(self, tensors: list[Tensor], highest: int) -> None:
        """One after the other, so that only one is there twice."""
        self.wait_for_copies()
        for index, tensor in enumerate(tensors):
            pin = self._cuda and tensors is self.host
            tensors[index] = _grown(tensor, highest, self.fill, pin=pin)

    def write(self, layer: int, slots: Tensor, keys: Tensor, values: Tensor) -> None:
        """Store `[tokens, kv_heads, head_dim]` at `slots`: block x block_size + offset."""
        for tensor, rows in zip(self.layer(layer), (keys, values), strict=True):
            tensor.index_copy_(0, slots, rows)

    def layer(self, layer: int) -> tuple[Tensor, Tensor]:
        """K and V of a layer as `[slots, kv_heads, head_dim]`."""
        return self.device[2 * layer].flatten(0, 1), self.device[2 * layer + 1].flatten(0, 1)

    def read(self, layer: int, rows: Tensor) -> tuple[Tensor, Tensor]:
        """K and V of a layer at `rows`: slot x kv_heads + head; `[*rows.shape, head_dim]` each.

        Valid until the next read: on a CPU the memory is used again, since getting it from the
        system takes longer than filling it.
        """
        flat, found = rows.flatten(), []
        for which, tensor in enumerate(self.device[2 * layer : 2 * layer + 2]):
            out = None if self._cuda else self._scratch_for(which, len(flat), tensor)
            out = torch.index_select(tensor.flatten(0, 2), 0, flat, out=out)
            found.append(out.view(*rows.shape, -1))
        keys, values = found
        return keys, values

    def _scratch_for(self, which: int, rows: int, like: Tensor) -> Tensor:
        size = rows * like.shape[-1]
        if size > len(self._scratch[which]):
            self._scratch[which] = like.new_empty(2 * size)
        return self._scratch[which][:size].view(rows, -1)

    def swap_out(self, swaps: Iterable[Swap]) -> None:
        """Copy device blocks to host blocks; `before_use` guards the blocks left behind."""
        for swap in swaps:
            self._copy(self.device, swap.sources, self.host, swap.targets)
            if self._copies is not None:
                self._leaving |= dict.fromkeys(swap.sources, self._copies.record_event())

    def swap_in(self, swaps: Iterable[Swap]) -> None:
        """Copy host blocks to device blocks, after every copy asked for before."""
        for swap in swaps:
            self._copy(self.host, swap.sources, self.device, swap.targets)
            if self._copies is not None:
                self._leaving |= dict.fromkeys(swap.targets, self._copies.record_event())

    def before_use(self, blocks: Iterable[int]) -> None:
        """Let computation wait for the copies that touch `blocks`; others overlap with it."""
        if self._leaving:
            for block in self._leaving.keys() & set(blocks):
                torch.cuda.current_stream().wait_event(self._leaving.pop(block))

    def _copy(
        self,
        sources: Sequence[Tensor],
        from_blocks: Sequence[int],
        targets: Sequence[Tensor],
        to_blocks: Sequence[int],
    ) -> None:
        runs = list(_runs(from_blocks, to_blocks))
        with self._on_side_stream():
            for source, target in zip(sources, targets, strict=True):
                for a, b, length in runs:
                    target[b : b + length].copy_(source[a : a + length], non_blocking=True)

    @contextmanager
    def _on_side_stream(self) -> Iterator[None]:
        """CUDA: behind all computation launched so far. CPU: here and now."""
        if self._copies is None:
            yield
        else:
            self._copies.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._copies):
                yield

    def wait_for_copies(self) -> None:
        """Return when all copies have ended."""
        if self._copies is not None:
            self._copies.synchronize()
            self._leaving.clear()

    def clear_padding(self) -> None:
        """Make block 0 zero again."""
        for tensor in self.device:
            tensor[0].zero_()

    def poison(self, blocks: Sequence[int], host_blocks: Sequence[int] = ()) -> None:
        """Overwrite blocks that nobody owns with `fill`, once they have been copied."""
        self.wait_for_copies()
        for tensors, ids in ((self.device, blocks), (self.host, host_blocks)):
            known = [block for block in ids if block < len(tensors[0])]
            for tensor in tensors:
                tensor[known] = self.fill


def _zeros(
    block_size: int, row: tuple[int, int], dtype: torch.dtype, device: torch.device
) -> Tensor:
    """The padding block alone."""
    return torch.zeros((1, block_size, *row), dtype=dtype, device=device)


def _grown(tensor: Tensor, highest: int, fill: float, *, pin: bool) -> Tensor:
    """With room for block `highest`, and an eighth more than before: seldom, and little in vain."""
    blocks = max(highest + 1, len(tensor) * 9 // 8)
    shape = (blocks, *tensor.shape[1:])
    grown = torch.full(shape, fill, dtype=tensor.dtype, device=tensor.device, pin_memory=pin)
    grown[: len(tensor)] = tensor
    return grown


def _runs(sources: Sequence[int], targets: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(source, target, length) of blocks that follow one another on both sides: one copy each."""
    pairs = enumerate(zip(sources, targets, strict=True))
    for _, run in groupby(pairs, key=lambda item: (item[1][0] - item[0], item[1][1] - item[0])):
        (_, (source, target)), *rest = run
        yield source, target, 1 + len(rest)
