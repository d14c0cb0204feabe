"""A linear price of a step, fitted to measured mixed steps of one model on one machine.

    t = c0 + several [T > 1] + token T + request R + kv (context tokens) + chunk (prompt chunks)
      + pair (query-key pairs of chunks) + sampled S + head [S > 0]
      + block_out, block_in x blocks copied

A step that samples reads the weights of the output head once, hence `head`; c0 holds all others.
A single token is a product with a vector, for which processors have other code: hence `several`.

Sums of what `StepLoad` holds, no coefficient below 0, so a larger step is never cheaper.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import NDArray

from hwmodels.roofline.costs import contexts, recompute_seconds
from hwmodels.validators import non_negative
from sched_core import EMPTY_LOAD, StepLoad, UnknownName, configure

RECOMPUTE_CHUNK = 2048
"""Tokens per chunk in `recompute`; policies ask for far less."""


FORM = "linear"
"""What a record of a run calls these costs."""

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
        decodes, decode_kv, chunks, chunk_tokens, chunk_kv, pairs, sampled, out, back = load
        copies, new = self.block_out * out + self.block_in * back, decodes + chunk_tokens
        if not new:
            return copies
        return copies + (
            self.c0
            + (self.several if new > 1 else 0.0)
            + self.token * new
            + self.request * (decodes + chunks)
            + self.kv * (decode_kv + chunk_kv)
            + self.chunk * chunks
            + self.pair * pairs
            + self.sampled * sampled
            + (self.head if sampled else 0.0)
        )

    def steps(self, load: StepLoad, n: int) -> Sequence[float]:
        """Seconds of `n` steps of decodes, each of which sees one token more every time.

        The sums of `step` in its order, but for those that are 0: floats do not add up the same in
        another.
        """
        decodes = load.decodes
        seconds = self.kv * contexts(load, n)
        seconds += (
            self.c0
            + (self.several if decodes > 1 else 0.0)
            + self.token * decodes
            + self.request * decodes
        )
        seconds += self.sampled * load.sampled
        seconds += self.head if load.sampled else 0.0
        listed: list[float] = seconds.tolist()
        return listed

    def to_record(self) -> dict[str, object]:
        """The constants, for `from_record`."""
        return {"form": FORM, **attrs.asdict(self)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any], where: str) -> Self:
        """The costs that `to_record` gave. Raises UnknownName for a form that it does not give,
        InputError for a constant that cannot be used; `where` it stands is for the messages."""
        form = record.get("form", FORM)  # files of before the key was written are linear
        if form != FORM:
            raise UnknownName("form of costs", str(form), [FORM], where=where)
        constants = {name: value for name, value in record.items() if name != "form"}
        costs: Self = configure(cls, constants, where=where)
        return costs

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
