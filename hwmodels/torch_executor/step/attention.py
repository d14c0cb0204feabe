"""Attention over the paged pool, called by transformers' models in the place of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import attrs
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import AttentionInterface

from hwmodels.torch_executor.step.packing import Group, PackedBatch
from hwmodels.torch_executor.step.pool import KVPool

NAME = "schedfw_paged"
"""Under this name transformers knows `paged_attention`. No mask function is registered under it:
then no mask is built, and the batch says who sees what."""

KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Not cuDNN's, which torch prefers on Hopper: it compiles a plan for every new shape (see
pytorch/pytorch#155958), and in each step of decodes the contexts are one token longer."""


@attrs.frozen
class Call:
    """One layer's call, without the packed leading dimension of 1."""

    layer: int
    query: Tensor
    """`[heads, T, key_dim]`"""
    key: Tensor
    """`[kv_heads, T, key_dim]`"""
    value: Tensor
    """`[kv_heads, T, value_dim]`"""
    scaling: float
    window: int | None
    softcap: float | None
    sinks: Tensor | None
    """A logit per head that takes part in the softmax and carries no value."""
    other: dict[str, Any]
    """What the model passes beyond that."""


class Answers(Protocol):
    """Who answers the calls of a forward pass."""

    def attend(self, call: Call) -> Tensor:
        """`[T, heads, value_dim]`"""


_current: ContextVar[Answers] = ContextVar("schedfw attention")
"""Not an argument of the model: some models hand none of ours down to their attention."""


@contextmanager
def answered_by(answers: Answers) -> Iterator[None]:
    """Let `answers` see every attention call made inside."""
    token = _current.set(answers)
    try:
        with sdpa_kernel(KERNELS):
            yield
    finally:
        _current.reset(token)


def paged_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **other: Any,
) -> tuple[Tensor, None]:
    """transformers' attention interface. Outside `answered_by` it raises LookupError."""
    call = Call(  # [0]: the requests lie one after the other in a single row
        module.layer_idx,
        query[0],
        key[0],
        value[0],
        query.shape[-1] ** -0.5 if scaling is None else scaling,
        sliding_window,
        softcap,
        s_aux,
        {"attention_mask": attention_mask, **other},
    )
    return _current.get().attend(call)[None], None


AttentionInterface.register(NAME, paged_attention)


@attrs.frozen
class PagedAttention:
    """Answers with the requests' own K and V: first writes all new ones, then reads."""

    pool: KVPool
    batch: PackedBatch

    def attend(self, call: Call) -> Tensor:
        key, value = call.key.transpose(0, 1), call.value.transpose(0, 1)
        # All of them first: a request may share blocks that another fills in this very step.
        self.pool.write(call.layer, self.batch.slots, key, value)
        return torch.cat([self._group(call, group) for group in self.batch.groups])

    def _group(self, call: Call, group: Group) -> Tensor:
        """`[requests x tokens, heads, value_dim]` of one group.

        The query heads that share a K/V head are laid along the queries, so that K and V are read
        once for all of them.
        """
        requests, tokens = group.positions.shape
        kv_heads, _, key_dim = call.key.shape
        shared = call.query.shape[0] // kv_heads
        query = call.query[:, group.start : group.start + requests * tokens]
        # Heads that share a K/V head are neighbours, as transformers lays them out.
        query = query.view(kv_heads, shared, requests, tokens, key_dim).permute(2, 0, 1, 3, 4)
        out = _softmax_attention(
            query.reshape(requests, kv_heads, shared * tokens, key_dim),
            *self.pool.read(call.layer, group.rows(kv_heads)),
            group.bias(call.window, shared, query.dtype),
            call,
        )
        out = out.view(requests, kv_heads, shared, tokens, -1).permute(0, 3, 1, 2, 4)
        return out.reshape(requests * tokens, kv_heads * shared, -1)


def _softmax_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, call: Call
) -> Tensor:
    """`[requests, kv_heads, rows, value_dim]` for as many rows of `query` and of `bias`."""
    if call.softcap is None and call.sinks is None:  # torch's kernels know neither
        return functional.scaled_dot_product_attention(
            query, key, value, attn_mask=bias, scale=call.scaling
        )
    scores = query @ key.transpose(2, 3) * call.scaling
    if call.softcap is not None:
        scores = torch.tanh(scores / call.softcap) * call.softcap
    scores = scores + bias  # after the cap, which would make -inf a finite number
    if call.sinks is None:
        return scores.softmax(-1) @ value
    rows = scores.shape[2] * scores.shape[1] // len(call.sinks)  # tokens of each request
    sinks = call.sinks.to(scores.dtype).repeat_interleave(rows).view(1, scores.shape[1], -1, 1)
    # One more column, which takes its share of the softmax and is then dropped.
    with_sink = torch.cat([scores, sinks.expand(len(scores), -1, -1, 1)], dim=-1)
    return with_sink.softmax(-1)[..., :-1] @ value
