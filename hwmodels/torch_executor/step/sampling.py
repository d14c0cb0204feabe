"""From logits to tokens: greedy, or drawn with a seed that knows nothing of the batch."""

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

from sched_core import ScheduledRequest


def sample(
    logits: Tensor, shares: Sequence[ScheduledRequest], temperature: float, seed: int
) -> Tensor:
    """`[sampled]` token ids for `logits` of `[sampled, vocabulary]`.

    Temperature 0 takes the likeliest. Otherwise one number per (seed, request, position) decides,
    so a request draws the same tokens in whatever company and after whatever preemption.
    """
    if temperature == 0:
        return logits.argmax(-1)
    draws = torch.tensor([_uniform(seed, share) for share in shares], dtype=torch.float64)
    draws = draws.to(logits.device, non_blocking=True)[:, None]
    cumulated = (logits.double() / temperature).softmax(-1).cumsum(-1)
    found = torch.searchsorted(cumulated, draws * cumulated[:, -1:], right=True)
    return found[:, 0].clamp_max(logits.shape[-1] - 1)


def _uniform(seed: int, share: ScheduledRequest) -> float:
    """In [0, 1): the same for the same token of the same request, in any process."""
    position = share.num_computed_tokens + share.num_tokens
    text = f"{seed} {position} {share.id!r}".encode()
    number = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())
    return (number >> 11) / 2**53
