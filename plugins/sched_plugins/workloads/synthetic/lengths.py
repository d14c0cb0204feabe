"""How long prompts and outputs are.

A length is written, inside a spec string and without quotes, as one of

    512                         always 512
    50..2000                    uniform, both ends included
    lognormal,600,0.8           mean 600 tokens, sigma 0.8 (of the logarithm)
    lognormal,600,0.8,16..8192  the same, given that it lies in 16..8192
    zipf,1.1,16..4096           P(16 + k) proportional to (k + 1) ** -1.1

Every drawn length is an integer >= 1. Each request's length is a growing function of one uniform
number of its own, so requests keep their rank when a parameter moves.
"""

from math import log
from typing import Protocol

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from sched_core import InputError, limits

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAX_LENGTH = 10_000_000
"""The longest that is drawn, far below `limits.TOKENS`: `Zipf` tabulates every length."""

_MEANS = limits.Numbers(1e-3, 1e9)
_SIGMAS = limits.Numbers(1e-6, 100)
_THETAS = limits.Numbers(0, 1000)

SYNTAX = "512, 50..2000, lognormal,MEAN,SIGMA[,LOW..HIGH] or zipf,THETA,LOW..HIGH"


class Lengths(Protocol):
    """A distribution over integers >= 1."""

    def quantile(self, u: Floats) -> Ints:
        """The lengths at the probabilities `u` in [0, 1), elementwise, in tokens."""


@attrs.frozen
class Uniform:
    """Every integer of low..high alike; a fixed length is low..low."""

    low: int
    high: int

    def quantile(self, u: Floats) -> Ints:
        return self.low + np.floor(u * (self.high - self.low + 1)).astype(np.int64)


@attrs.frozen
class Lognormal:
    """Rounded log-normal, given that the rounded value lies in low..high.

    `mean` is that of the distribution before rounding and truncation, `sigma` the standard
    deviation of its logarithm, so mu = ln(mean) - sigma**2 / 2.
    """

    mean: float
    sigma: float
    low: int = 1
    high: int = MAX_LENGTH

    def __attrs_post_init__(self) -> None:
        below, upto = self._limits()
        if upto - below < 1e-6:  # the tail is beyond what float64 can invert
            raise InputError(
                "the range holds almost nothing of the distribution",
                value=f"{self.low}..{self.high}",
                expected=f"a range around the mean {self.mean:g}",
            )

    def quantile(self, u: Floats) -> Ints:
        below, upto = self._limits()
        normal = ndtri(below + u * (upto - below))
        rounded = np.rint(np.exp(np.minimum(self._mu + self.sigma * normal, 50.0)))
        return np.clip(rounded, self.low, self.high).astype(np.int64)

    @property
    def _mu(self) -> float:
        return log(self.mean) - self.sigma**2 / 2

    def _limits(self) -> tuple[float, float]:
        """Probabilities below low - 0.5 and below high + 0.5."""
        edges = np.log(np.array([self.low - 0.5, self.high + 0.5]))
        below, upto = ndtr((edges - self._mu) / self.sigma)
        return float(below), float(upto)


@attrs.frozen
class Zipf:
    """The k-th integer of low..high with probability proportional to k**-theta; 0 is uniform."""

    theta: float
    low: int
    high: int

    def quantile(self, u: Floats) -> Ints:
        ranks = np.arange(1, self.high - self.low + 2, dtype=np.float64)
        cumulative = np.cumsum(ranks**-self.theta)
        return self.low + np.searchsorted(cumulative / cumulative[-1], u, side="right")


def parse_lengths(text: str) -> Lengths:
    """The distribution written in `text`; raises InputError on any other text."""
    kind, *arguments = text.split(",")
    match kind, arguments:
        case "lognormal", [mean, sigma, *bounds] if len(bounds) <= 1:
            low, high = _range(bounds[0], text) if bounds else (1, MAX_LENGTH)
            return Lognormal(_number(mean, text, _MEANS), _number(sigma, text, _SIGMAS), low, high)
        case "zipf", [theta, bounds]:
            return Zipf(_number(theta, text, _THETAS), *_range(bounds, text))
        case _, []:
            return Uniform(*_range(text, text))
    raise _refusal(text)


def _range(written: str, text: str) -> tuple[int, int]:
    low, dots, high = written.partition("..")
    ends = (low, high if dots else low)
    if not all(end.isascii() and end.isdigit() for end in ends):
        raise _refusal(text)
    first, last = map(int, ends)
    if not 1 <= first <= last <= MAX_LENGTH:
        raise InputError(
            "not a range of lengths",
            value=written,
            expected=f"1 <= LOW <= HIGH <= {MAX_LENGTH}",
        )
    return first, last


def _number(written: str, text: str, allowed: limits.Numbers) -> float:
    try:
        value = float(written)
    except ValueError:
        raise _refusal(text) from None
    if not allowed.holds(value):
        raise InputError(f"{written} is out of range", value=text, expected=str(allowed))
    return value


def _refusal(text: str) -> InputError:
    return InputError("not a length distribution", value=text, expected=SYNTAX)
