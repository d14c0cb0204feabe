"""Is a policy better than another, or is it noise? Differences paired by seed."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

from sched_core.reports.figures import Figure, averaged, figures_of

CONFIDENCE = 0.95

SMALLEST_EFFECT = 0.005
"""Relative to the first policy; no verdict is given on less, however sure it is."""

Verdict = Literal["better", "worse"]
Summaries = Mapping[str, Sequence[Mapping[str, Any]]]
"""Column -> its summaries, one per seed, the seeds in the same order."""


@attrs.frozen(kw_only=True)
class Difference:
    """A figure of `policy` minus that of `baseline`, over the seeds."""

    policy: str
    baseline: str
    figure: Figure
    pairs: int
    """Seeds under which both have the figure."""
    mean: float | None
    low: float | None
    """The interval of CONFIDENCE; None where fewer than two pairs, or no spread, give none."""
    high: float | None
    relative: float | None
    """`mean` over the baseline's mean; None where that is 0."""
    direction: Verdict | None
    """Which way `mean` points, noise or not; None for figures that are nobody's aim, and for
    less than the smallest effect."""
    verdict: Verdict | None
    """`direction`, or None unless the interval excludes 0 and the finished requests do not speak
    against it."""

    def document(self) -> dict[str, Any]:
        """As plain JSON values; the figure by its keys in the summary."""
        keys = attrs.asdict(self) | {"figure": list(self.figure.path)}
        del keys["direction"]  # who reads JSON shall not take noise for a verdict
        return keys


def differences(
    summaries: Summaries,
    smallest_effect: float = SMALLEST_EFFECT,
    figures: Sequence[Figure] | None = None,
) -> list[Difference]:
    """Of every other policy to the first one, figure by figure: all of them, or those given."""
    (baseline, first), *others = summaries.items()
    if figures is None:
        figures = figures_of(one for runs in summaries.values() for one in runs)
    return [
        _difference(figure, (policy, mine), (baseline, first), smallest_effect)
        for policy, mine in others
        for figure in figures
    ]


def _difference(
    figure: Figure,
    policy: tuple[str, Sequence[Mapping[str, Any]]],
    baseline: tuple[str, Sequence[Mapping[str, Any]]],
    smallest_effect: float,
) -> Difference:
    runs = list(zip(policy[1], baseline[1], strict=True))
    pairs = [(figure.of(mine), figure.of(first)) for mine, first in runs]
    deltas = [mine - first for mine, first in pairs if mine is not None and first is not None]
    mean = statistics.fmean(deltas) if deltas else None
    low, high = interval(deltas)
    base = averaged(figure, baseline[1])
    direction = _direction(figure, mean, smallest_effect * abs(base or 0.0))
    extra = [int(mine["finished"]) - int(first["finished"]) for mine, first in runs]
    return Difference(
        policy=policy[0],
        baseline=baseline[0],
        figure=figure,
        pairs=len(deltas),
        mean=mean,
        low=low,
        high=high,
        relative=mean / base if mean is not None and base else None,
        direction=direction,
        verdict=_verdict(direction, low, high, extra),
    )


def interval(deltas: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """Student's t interval of the mean; (None, None) where there are too few, or all are equal.

    Equal differences say that the seed changed nothing, not that there is no noise.
    """
    if len(set(deltas)) < 2:
        return None, None
    from scipy.stats import t  # loads slowly

    error = statistics.stdev(deltas) / math.sqrt(len(deltas))
    low, high = t.interval(CONFIDENCE, len(deltas) - 1, statistics.fmean(deltas), error)
    return float(low), float(high)


def _direction(figure: Figure, mean: float | None, smallest: float) -> Verdict | None:
    if figure.better is None or not mean or (abs(mean) < smallest and not figure.exact):
        return None
    return "better" if (mean < 0) == (figure.better == "lower") else "worse"


def _verdict(
    direction: Verdict | None, low: float | None, high: float | None, extra: Sequence[int]
) -> Verdict | None:
    """Latencies look good where fewer requests finish: that bars "better", and more bar "worse"."""
    if low is None or high is None or low <= 0 <= high:
        return None
    barred = min(extra) < 0 if direction == "better" else max(extra) > 0
    return None if barred else direction
