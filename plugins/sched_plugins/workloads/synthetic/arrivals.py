"""When requests arrive: gaps of mean 1, divided by the rate of each request."""

from math import isinf
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
RampUp = Literal["linear", "exponential"]


def unit_gaps(rng: np.random.Generator, n: int, burstiness: float) -> Floats:
    """`n` independent gaps of mean 1 and coefficient of variation 1 / sqrt(burstiness).

    `burstiness` is vLLM's: the shape of a gamma distribution, so 1 is Poisson, more is smoother,
    and infinity is one gap for all.
    """
    if isinf(burstiness):
        return np.ones(n)
    return rng.gamma(burstiness, 1.0 / burstiness, n)


def ramp(strategy: RampUp, start: float, end: float, n: int) -> Floats:
    """The rate of each of `n` requests, from `start` to `end`, over the request's index (vLLM)."""
    progress = np.arange(n) / max(n - 1, 1)
    if strategy == "linear":
        return start + (end - start) * progress
    return start * (end / start) ** progress


def arrival_times(gaps: Floats, rates: Floats | float) -> Floats:
    """Seconds, rounded to nanoseconds; the first request comes after the first gap.

    The sum is left as it falls. vLLM's client stretches it until the last request comes at
    exactly n / rate, which is no longer the process it names and hides the noise between seeds.
    An infinite rate puts all requests at 0.
    """
    return np.rint(np.cumsum(gaps / rates) * 1e9) / 1e9
