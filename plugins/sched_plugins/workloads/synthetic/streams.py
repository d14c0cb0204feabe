"""Random streams that stay the same whatever else is drawn."""

from zlib import crc32

import numpy as np

from sched_core import limits


def stream(seed: int, name: str) -> np.random.Generator:
    """The generator of one purpose, e.g. `gaps`, under `seed` (an integer >= 0).

    One stream a purpose gives common random numbers: another rate or another prompt length
    leaves all the rest as it was, so that a comparison sees only the change.
    """
    limits.SEEDS.require(seed, "seed")
    return np.random.default_rng([seed, crc32(name.encode())])
