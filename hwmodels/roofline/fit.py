"""Least squares: from measured steps to the efficiencies of a hardware model."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from sched_core import StepLoad

START: Mapping[str, float] = {
    "ec": 0.7,
    "eb": 0.8,
    "ek": 0.75,
    "ea": 0.4,
    "ce": 40.0,
    "cl": 60e-6,
}
"""Round values of the right size: two thirds of the peak, four fifths of the bandwidth, some forty
activation vectors per token and layer, some ten kernels of a few microseconds per layer."""

WEIGHT = 0.3
"""How hard the start holds: a constant 10 % off it costs as much as one row 3 % off."""

Pricer = Callable[[StepLoad], float]


def fit(
    price: Callable[[dict[str, float]], Pricer],
    loads: Sequence[StepLoad],
    seconds: Sequence[float],
    start: Mapping[str, float] = START,
) -> dict[str, float]:
    """The constants under which `price(constants)` is closest to the measured `seconds`.

    Minimises the squares of the relative errors and of `WEIGHT * ln(constant / start)`. The second
    sum keeps a constant where it began when the rows say nothing about it (decodes alone know
    no attention over prompts), and keeps one term from taking over another's work, which would
    fit these rows and mislead on the next model. Rounded to three digits, which is more than the
    rows can tell.
    """
    names, origin = list(start), np.array(list(start.values()))
    measured = np.array(seconds)

    def residuals(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        constants = dict(zip(names, (origin * np.exp(logs)).tolist(), strict=True))
        step = price(constants)
        priced = np.array([step(load) for load in loads])
        return np.concatenate([priced / measured - 1, WEIGHT * logs])

    found = origin * np.exp(least_squares(residuals, np.zeros(len(names))).x)
    return {name: float(f"{value:.3g}") for name, value in zip(names, found, strict=True)}
