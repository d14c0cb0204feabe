"""Makes `example-azure.csv`: requests in the format of the Azure traces, none of them recorded.

    python -m sched_plugins.workloads.examples.example_azure > example-azure.csv

Its shape is round numbers, not a fit to anybody's traffic: gaps of a Poisson process whose rate
swings by half every two minutes, lengths that are lognormal, and now and then a long document.
"""

import sys
from collections.abc import Iterator
from math import exp, log, pi, sin
from random import Random

ROWS = 600
SEED = 2023
RATE = 5.0
"""Requests a second, on average."""
SWING, PERIOD = 0.5, 120.0
LONG = 0.05
"""Share of prompts that are documents."""


def text() -> str:
    """The whole file, the same on every machine."""
    return "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(_rows(Random(SEED)))


def _rows(rng: Random) -> Iterator[str]:
    now = 0.0
    for _ in range(ROWS):
        rate = RATE * (1 + SWING * sin(2 * pi * now / PERIOD))
        now += -log(1 - rng.random()) / rate
        mean, most = (4000, 8000) if rng.random() < LONG else (800, 4000)
        yield f"{_stamp(now)},{_length(rng, mean, 0.8, most)},{_length(rng, 250, 0.6, 1000)}\n"


def _stamp(seconds: float) -> str:
    """A wall clock of seven digits without a zone, as in 2023; the run begins at noon."""
    ticks = round(seconds * 10**7)
    minutes, rest = divmod(ticks, 60 * 10**7)
    return f"2023-01-01 12:{minutes:02}:{rest // 10**7:02}.{rest % 10**7:07}"


def _length(rng: Random, mean: float, sigma: float, most: int) -> int:
    """A lognormal number of tokens, by the sum of twelve uniform ones for a normal one.

    Sums are exact alike everywhere, which `Random.gauss` does not promise between versions.
    """
    normal = sum(rng.random() for _ in range(12)) - 6
    return min(most, max(1, round(mean * exp(sigma * normal - sigma**2 / 2))))


if __name__ == "__main__":
    sys.stdout.write(text())
