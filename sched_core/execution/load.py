"""What a step holds, in sums: all that a hardware model needs to price it.

Sums, never count x maximum, so one long request does not make its neighbours expensive.
"""

from collections.abc import Iterable
from typing import NamedTuple


class StepLoad(NamedTuple):
    """What a step holds, in sums: all that a hardware model needs to price it."""

    decodes: int = 0
    """Requests that compute exactly their one next token."""
    decode_kv_tokens: int = 0
    """Context tokens those decodes attend to, the new token included."""
    prefills: int = 0
    """Requests that compute a prompt chunk, or recompute one."""
    prefill_tokens: int = 0
    """New tokens of all chunks."""
    prefill_kv_tokens: int = 0
    """Context tokens at the end of each chunk, summed."""
    prefill_pairs: int = 0
    """(query, key) pairs under the causal mask of all chunks: n*c + n*(n+1)/2 for n new tokens
    after c computed ones."""
    sampled: int = 0
    """Requests that emit a token at the end of the step."""
    blocks_out: int = 0
    """KV blocks copied from device to host."""
    blocks_in: int = 0
    """KV blocks copied from host to device."""

    @property
    def new_tokens(self) -> int:
        """Tokens computed in this step."""
        return self.decodes + self.prefill_tokens


EMPTY_LOAD = StepLoad()


def decode_load(decodes: int, computed: int) -> StepLoad:
    """`decodes` requests that have `computed` tokens in all, and compute one more each."""
    return StepLoad(decodes, computed + decodes, 0, 0, 0, 0, decodes)


def mixed_load(
    decodes: int,
    computed: int,
    chunks: Iterable[tuple[int, int]],
    sampled: int,
    blocks_out: int = 0,
    blocks_in: int = 0,
) -> StepLoad:
    """The same beside prompt `chunks` of (computed, new) tokens; `sampled` of all emit a token."""
    prefills = tokens = kv = pairs = 0
    for start, new in chunks:
        prefills += 1
        tokens += new
        kv += start + new
        pairs += new * start + new * (new + 1) // 2
    context = computed + decodes
    return StepLoad(decodes, context, prefills, tokens, kv, pairs, sampled, blocks_out, blocks_in)
