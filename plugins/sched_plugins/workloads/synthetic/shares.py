"""Who asks, and how urgently: names with weights.

`a@6,b@3,c` gives a six tenths, b three, c (weight 1) one. `tenants=4` is short for four equal
tenants t0..t3; `priorities=0@0.2,5@0.8` makes one request in five urgent (lower is served first).
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sched_core import InputError, limits

MAX_TENANTS = 10_000
_WEIGHTS = limits.Numbers(1e-9, 1e9)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_INTEGER = re.compile(r"-?[0-9]{1,9}")


class Shares(NamedTuple):
    """Names, each with a weight > 0; weights need not sum to 1."""

    names: tuple[str, ...]
    weights: tuple[float, ...]

    def pick(self, u: npt.NDArray[np.float64]) -> list[str]:
        """The name at each probability of `u` in [0, 1)."""
        cumulative = np.cumsum(self.weights)
        chosen = np.searchsorted(cumulative / cumulative[-1], u, side="right")
        return [self.names[index] for index in chosen.tolist()]


def parse_tenants(text: str) -> Shares:
    """`4`, or `NAME[@WEIGHT],...`; raises InputError on any other text."""
    if text.isascii() and text.isdigit():
        count = int(text[:9])
        if not 1 <= count <= MAX_TENANTS:
            raise InputError("out of range", value=text, expected=f"1 to {MAX_TENANTS} tenants")
        return Shares(tuple(f"t{index}" for index in range(count)), (1.0,) * count)
    return _parse(text, _NAME, "a number of tenants, or NAME[@WEIGHT],... such as a@3,b")


def parse_priorities(text: str) -> Shares:
    """`INTEGER[@WEIGHT],...`; raises InputError on any other text."""
    return _parse(text, _INTEGER, "INTEGER[@WEIGHT],... such as 0@0.2,5@0.8")


def _parse(text: str, name: re.Pattern[str], expected: str) -> Shares:
    pairs = [_pair(part, name, expected) for part in text.split(",")]
    names, weights = zip(*pairs, strict=True)
    if len(set(names)) < len(names):
        raise InputError("a name is given twice", value=text, expected=expected)
    return Shares(names, weights)


def _pair(part: str, name: re.Pattern[str], expected: str) -> tuple[str, float]:
    label, at, written = part.partition("@")
    try:
        weight = float(written) if at else 1.0
    except ValueError:
        weight = 0.0
    if not name.fullmatch(label) or weight <= 0:
        raise InputError("not a name with a weight > 0", value=part, expected=expected)
    if not _WEIGHTS.holds(weight):
        raise InputError("out of range", value=part, expected=f"a weight: {_WEIGHTS}")
    return label, weight
