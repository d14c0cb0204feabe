"""How long a step of a transformer takes on a GPU: a roofline with fitted efficiencies.

For T new tokens, S sampled ones, L layers of width d, peak rate P and memory bandwidth BW:

    t = product(W_layers, T) + product(W_head, S)     matrix products
      + KV_read / (ek BW) + F_attention / (ea P)      attention over the cache
      + ce T L d 2 bytes / BW                         activations between the products
      + cl L + c0                                     fixed latencies
      + blocks swapped * (block bytes / host link + 2 L copy)

With `overlap` the copies run beside the rest, and the longer of the two counts.

    product(W, n) = hypot(2 W rows(n) / (ec P), W bytes / (eb BW))

`rows(n)` is n up to one matrix tile and n rounded up to whole tiles above it: the staircase that
chunk sizes should respect. `hypot` because loading weights and multiplying overlap only in part:
measured times of small batches lie between their maximum and their sum, and a hard maximum would
price the tokens below the knee at nothing. A step's second and later terms are sums over its
requests, so one long request does not make its neighbours expensive.
"""

from collections.abc import Callable, Sequence
from math import hypot

import attrs
import numpy as np
from numpy.typing import NDArray

from sched_core import EMPTY_LOAD, StepLoad


@attrs.frozen
class RooflineCosts:
    """The formula with everything but the load multiplied out; all in seconds."""

    tile: int
    layer_row: float
    """Per row of the layers' products."""
    layer_read: float
    """To read the layers' weights once."""
    head_row: float
    head_read: float
    kv_token: float
    """Per context token read."""
    pair: float
    """Per (query, key) pair of a prompt chunk."""
    token: float
    """Activations, per new token."""
    fixed: float
    block: float
    """Per block swapped, either way."""
    recompute_chunk: int
    overlap: bool
    """Do copies run beside the computation?"""

    def step(self, load: StepLoad) -> float:
        """Seconds of a step; 0 only for an empty load."""
        decodes, decode_kv, _, chunks, chunks_kv, pairs, sampled, out, back = load
        new, copies, seconds = decodes + chunks, self.block * (out + back), 0.0
        if new:
            seconds = (
                self._product(new, self.layer_row, self.layer_read)
                + self.kv_token * (decode_kv + chunks_kv)
                + self.pair * pairs
                + self.token * new
                + self.fixed
            )
        if sampled:
            seconds += self._product(sampled, self.head_row, self.head_read)
        return max(seconds, copies) if self.overlap else seconds + copies

    def steps(self, load: StepLoad, n: int) -> Sequence[float]:
        """Seconds of `n` steps of decodes, each of which sees one token more every time.

        The sums of `step` in its order, but for those that are 0: floats do not add up the same in
        another.
        """
        decodes, context = load.decodes, load.decode_kv_tokens
        layers, fixed = self._product(decodes, self.layer_row, self.layer_read), self.fixed
        token, per_kv = self.token * decodes, self.kv_token
        head = self._product(load.sampled, self.head_row, self.head_read) if load.sampled else 0.0
        if n <= FEW:
            return [
                layers + per_kv * kv + token + fixed + head
                for kv in range(context, context + n * decodes, decodes)
            ]
        seconds: list[float] = (layers + per_kv * contexts(load, n) + token + fixed + head).tolist()
        return seconds

    def _product(self, tokens: int, row: float, read: float) -> float:
        tile = self.tile
        rows = tokens if tokens <= tile else -(-tokens // tile) * tile
        return hypot(row * rows, read)

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        """What the chunks add to steps that hold `beside` anyway: little while those steps are
        bound by memory, whole steps where `beside` is empty."""
        return recompute_seconds(self.step, tokens, beside, self.recompute_chunk)

    def swap_out(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.step(beside._replace(blocks_out=beside.blocks_out + blocks)) - self.step(beside)

    def swap_in(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.swap_out(blocks, beside)  # the link is as fast in both directions


def recompute_seconds(
    step: Callable[[StepLoad], float], tokens: int, beside: StepLoad, chunk: int
) -> float:
    """What `tokens` tokens from position 0, in chunks of `chunk`, add to steps of `beside`."""
    alone, seconds = step(beside), 0.0
    for done in range(0, tokens, chunk):
        seconds += step(_with_chunk(beside, min(chunk, tokens - done), done)) - alone
    return seconds


def _with_chunk(load: StepLoad, tokens: int, computed: int) -> StepLoad:
    """`load` and one more chunk of `tokens` prompt tokens after `computed` ones."""
    return load._replace(
        prefills=load.prefills + 1,
        prefill_tokens=load.prefill_tokens + tokens,
        prefill_kv_tokens=load.prefill_kv_tokens + computed + tokens,
        prefill_pairs=load.prefill_pairs + tokens * computed + tokens * (tokens + 1) // 2,
    )


FEW = 64
"""Steps up to which numbers one by one are faster than an array of them."""


def contexts(load: StepLoad, n: int) -> NDArray[np.float64]:
    """Context tokens read by each of `n` steps of the decodes of `load`, one after the other.

    Exact below 2**53 tokens, and no step holds as many.
    """
    first, each = load.decode_kv_tokens, load.decodes
    return np.arange(first, first + n * each, each, dtype=np.float64)
