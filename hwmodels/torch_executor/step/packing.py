"""A step's requests as one packed batch: what one forward pass computes, reads and writes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sched_core import ScheduledRequest

Ints = NDArray[np.int64]

SHORTEST = 64
"""Contexts below this many tokens share one group: a call costs more than the padding."""


@attrs.frozen(eq=False, slots=False)
class Group:
    """Requests that compute equally many tokens and attend to about equally many."""

    start: int
    """Where their tokens begin in the packed batch; they follow one another."""
    tables: Tensor
    """Blocks each attends to, `[requests, blocks]`; padded with block 0."""
    positions: Tensor
    """Positions each computes, `[requests, tokens]`: the last of its context."""
    block_size: int
    longest: int
    """Tokens to which every context is padded."""

    @cached_property
    def context(self) -> Tensor:
        """Slots each attends to, `[requests, longest]`; padded with slot 0."""
        inside = torch.arange(self.block_size, device=self.tables.device)
        slots = (self.tables[:, :, None] * self.block_size + inside).flatten(1)[:, : self.longest]
        seen = torch.arange(self.longest, device=self.tables.device)
        # Not left to the bias: an unwritten slot may hold NaN, which neither -inf nor 0 x hides.
        return slots.masked_fill(seen > self.positions[:, -1:], 0)

    # Made once for all layers that are alike: a model may have several kinds.
    @cached_property
    def _rows(self) -> dict[int, Tensor]:
        return {}

    @cached_property
    def _biases(self) -> dict[tuple[int | None, int, torch.dtype], Tensor]:
        return {}

    def rows(self, kv_heads: int) -> Tensor:
        """The context's rows in a pool of `[slots x kv_heads, head_dim]`: head by head, so that
        what is read lies as attention wants it. `[requests, kv_heads, longest]`"""
        if kv_heads not in self._rows:
            heads = torch.arange(kv_heads, device=self.context.device)[:, None]
            self._rows[kv_heads] = self.context[:, None] * kv_heads + heads
        return self._rows[kv_heads]

    def bias(self, window: int | None, heads: int, dtype: torch.dtype) -> Tensor:
        """What to add to the scores: 0, or -inf where a query must not look.

        `[requests, 1, heads x tokens, longest]`, for `heads` query heads to a K/V head. A query
        sees itself and what is before it, of that the last `window` positions.
        """
        key = (window, heads, dtype)
        if key not in self._biases:
            seen = torch.arange(self.longest, device=self.positions.device)
            queries = self.positions[:, :, None]
            hidden = seen > queries
            if window is not None:
                hidden |= seen <= queries - window
            bias = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
            bias.masked_fill_(hidden, -torch.inf)
            self._biases[key] = bias.repeat(1, heads, 1)[:, None]
        return self._biases[key]


@attrs.frozen(eq=False)
class PackedBatch:
    """All tokens of a step, group by group."""

    tokens: Tensor
    """`[1, T]` token ids."""
    positions: Tensor
    """`[1, T]`, each counted from the start of its own request."""
    slots: Tensor
    """`[T]`: where K and V of each token go."""
    groups: tuple[Group, ...]
    last: Tensor
    """Indices of the tokens whose logits are sampled."""
    sampled: tuple[ScheduledRequest, ...]
    """Whose they are, in the same order."""


def pack(
    shares: Sequence[ScheduledRequest],
    known: Mapping[str, Sequence[int]],
    block_size: int,
    device: torch.device,
) -> PackedBatch:
    """The batch for the `shares` of a plan; `known` holds prompt and emitted tokens by id."""
    # From here on in this order, not the plan's: decodes, short contexts first, then chunks.
    grouped = [group for _, group in sorted(_grouped(shares).items())]
    ordered = [share for group in grouped for share in group]
    laid_out = [_layout(group, block_size) for group in grouped]
    ends = np.cumsum([share.num_tokens for share in ordered])
    last = [end - 1 for end, share in zip(ends, ordered, strict=True) if share.samples]
    numbers = np.concatenate([positions.ravel() for _, positions, _ in laid_out])
    lengths = [int(positions.max()) + 1 for _, positions, _ in laid_out]
    packed, slots, final, *rest = _moved(
        [
            np.array([_tokens(ordered, known), numbers]),
            np.concatenate([slots.ravel() for *_, slots in laid_out]),
            np.array(last, dtype=np.int64),
            *(part for tables, positions, _ in laid_out for part in (tables, positions)),
        ],
        device,
    )
    groups, start = [], 0
    for tables, positions, longest in zip(rest[::2], rest[1::2], lengths, strict=True):
        groups.append(Group(start, tables, positions, block_size, longest))
        start += positions.numel()
    sampled = tuple(share for share in ordered if share.samples)
    return PackedBatch(packed[:1], packed[1:], slots, tuple(groups), final, sampled)


def pack_decodes(
    shares: Sequence[ScheduledRequest],
    known: Mapping[str, Sequence[int]],
    block_size: int,
    longest: int,
) -> Ints:
    """One token each, as a single group of contexts padded to `longest`: all numbers of its batch
    in a row, for `unpack_decodes`."""
    tables, positions, slots = _layout(shares, block_size, longest)
    return np.concatenate(
        [_tokens(shares, known), positions.ravel(), slots.ravel(), tables.ravel()]
    )


def unpack_decodes(row: Tensor, requests: int, block_size: int, longest: int) -> PackedBatch:
    """The batch of `pack_decodes`, as views of its numbers; every request is sampled."""
    tokens, positions, slots = row[: 3 * requests].view(3, 1, requests)
    tables = row[3 * requests :].view(requests, -1)
    group = Group(0, tables, positions.view(requests, 1), block_size, longest)
    last = torch.arange(requests, device=row.device)
    return PackedBatch(tokens, positions, slots[0], (group,), last, ())


def _tokens(shares: Sequence[ScheduledRequest], known: Mapping[str, Sequence[int]]) -> list[int]:
    """What the shares compute, one after the other."""
    return [
        token
        for share in shares
        for token in known[share.id][
            share.num_computed_tokens : share.num_computed_tokens + share.num_tokens
        ]
    ]


def _grouped(shares: Sequence[ScheduledRequest]) -> dict[tuple[int, int], list[ScheduledRequest]]:
    """Single tokens by the power of two above their context; each chunk by itself.

    So no request of a group is padded to more than twice its context, or `SHORTEST` tokens.
    """
    groups: defaultdict[tuple[int, int], list[ScheduledRequest]] = defaultdict(list)
    for number, share in enumerate(shares):
        chunk = share.num_tokens > 1  # a prompt's single token is computed as a decode is
        size = share.num_computed_tokens // SHORTEST
        groups[(1, number) if chunk else (0, size.bit_length())].append(share)
    return groups


def _layout(
    group: Sequence[ScheduledRequest], block_size: int, longest: int = 0
) -> tuple[Ints, Ints, Ints]:
    """(blocks read, positions computed, slots written) of a group, a row per request.

    Tables reach as far as the longest context, or `longest` tokens.
    """
    lengths = np.array([share.num_computed_tokens + share.num_tokens for share in group])
    blocks = -(-max(longest, int(lengths.max())) // block_size)
    tables = np.zeros((len(group), blocks), dtype=np.int64)
    for row, share in zip(tables, group, strict=True):
        used = share.block_ids[:blocks]  # a table may hold blocks for tokens still to come
        row[: len(used)] = used
    tokens = group[0].num_tokens
    positions = lengths[:, None] - tokens + np.arange(tokens)  # all of a group compute as many
    block, inside = np.divmod(positions, block_size)
    return tables, positions, np.take_along_axis(tables, block, axis=1) * block_size + inside


def _moved(arrays: Sequence[Ints], device: torch.device) -> list[Tensor]:
    """The arrays on the device, in a single copy."""
    flat = staged(np.concatenate([array.ravel() for array in arrays]), device)
    flat = flat.to(device, non_blocking=True)
    parts = flat.split([array.size for array in arrays])
    return [part.view(array.shape) for part, array in zip(parts, arrays, strict=True)]


def staged(numbers: Ints, device: torch.device) -> Tensor:
    """On the host, from where a copy to `device` need not be waited for."""
    on_host = torch.from_numpy(numbers)
    return on_host.pin_memory() if device.type == "cuda" else on_host
