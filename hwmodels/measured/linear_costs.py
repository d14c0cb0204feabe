"""A linear price of a step, fitted to measured mixed steps of one model on one machine.

    t = c0 + several [T > 1] + token T + request R + kv (context tokens) + chunk (prompt chunks)
      + pair (query-key pairs of chunks) + sampled S + head [S > 0]
      + block_out, block_in x blocks copied

A step that samples reads the weights of the output head once, hence `head`; c0 holds all others.
A single token is a product with a vector, for which processors have other code: hence `several`.

Sums of what `StepLoad` holds, no coefficient below 0, so a larger step is never cheaper.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hwmodels.roofline.costs import recompute_seconds
from hwmodels.validators import non_negative
from sched_core import EMPTY_LOAD, StepLoad

RECOMPUTE_CHUNK = 2048
"""Tokens per chunk in `recompute`; policies ask for far less."""


FITTED = ("c0", "several", "token", "request", "kv", "chunk", "pair", "sampled", "head")
"""Constants that `fit` finds; those of copies are measured by themselves."""


def _seconds(about: str) -> Any:
    return attrs.field(default=0.0, validator=non_negative, metadata={"about": about})


@attrs.frozen(kw_only=True)
class LinearCosts:
    """The price of a step; all in seconds."""

    c0: float = _seconds("per step")
    several: float = _seconds("per step of more than one token")
    token: float = _seconds("per new token")
    request: float = _seconds("per request in the step")
    kv: float = _seconds("per context token of a request")
    chunk: float = _seconds("per prompt chunk")
    pair: float = _seconds("per (query, key) pair of a chunk")
    sampled: float = _seconds("per sampled token")
    head: float = _seconds("per step that samples")
    block_out: float = _seconds("per block copied to the host")
    block_in: float = _seconds("per block copied back")

    def step(self, load: StepLoad) -> float:
        """Seconds of a step; 0 only for an empty load."""
        seconds = self.swap_out(load.blocks_out) + self.swap_in(load.blocks_in)
        if load.new_tokens:
            constants = (getattr(self, name) for name in FITTED)
            seconds += sum(a * b for a, b in zip(constants, features(load), strict=True))
        return seconds

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        """Chunks that ride in steps which hold `beside`; whole steps where that is empty."""
        return recompute_seconds(self.step, tokens, beside, RECOMPUTE_CHUNK)

    def swap_out(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        """The same beside any work: copies are priced as if nothing overlapped with them."""
        return self.block_out * blocks

    def swap_in(self, blocks: int, beside: StepLoad = EMPTY_LOAD) -> float:
        return self.block_in * blocks


def features(load: StepLoad) -> tuple[int, ...]:
    """What each of `FITTED` is multiplied with."""
    return (
        1,
        int(load.new_tokens > 1),
        load.new_tokens,
        load.decodes + load.prefills,
        load.decode_kv_tokens + load.prefill_kv_tokens,
        load.prefills,
        load.prefill_pairs,
        load.sampled,
        min(load.sampled, 1),
    )


def fit(loads: Sequence[StepLoad], seconds: Sequence[float]) -> LinearCosts:
    """The constants, none below 0, whose relative errors have the least squares.

    What is the same in every step cannot be told from `c0`, and is left at 0.
    """
    from scipy.optimize import nnls  # loads slowly, and only this needs it

    rows = np.array([features(load) for load in loads], dtype=np.float64)
    rows[:, 1:] *= np.ptp(rows[:, 1:], axis=0) > 0
    solution, _ = nnls(rows / np.array(seconds)[:, None], np.ones(len(seconds)))
    return LinearCosts(**{n: float(f"{x:.4g}") for n, x in zip(FITTED, solution, strict=True)})


def relative_errors(
    costs: LinearCosts, loads: Sequence[StepLoad], seconds: Sequence[float]
) -> NDArray[np.float64]:
    """Priced / measured - 1 of each step: above 0 is priced too slow."""
    priced = np.array([costs.step(load) for load in loads])
    return np.asarray(priced / np.array(seconds) - 1, dtype=np.float64)
