"""Is a policy better than another, or is it noise? Differences paired by seed."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

from sched_core.reports.figures import Figure, figures_of

CONFIDENCE = 0.95


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
    verdict: Literal["better", "worse"] | None
    """None unless the interval excludes 0 and the finished requests do not speak against it."""

    def document(self) -> dict[str, Any]:
        """As plain JSON values; the figure by its keys in the summary."""
        return attrs.asdict(self) | {"figure": list(self.figure.path)}


def differences(summaries: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Difference]:
    """Of every other policy to the first one, figure by figure.

    `summaries` holds each policy's, one per seed, the seeds in the same order.
    """
    (baseline, first), *others = summaries.items()
    figures = figures_of(one for runs in summaries.values() for one in runs)
    return [
        _difference(figure, policy, mine, baseline, first)
        for policy, mine in others
        for figure in figures
    ]


def _difference(
    figure: Figure,
    policy: str,
    mine: Sequence[Mapping[str, Any]],
    baseline: str,
    first: Sequence[Mapping[str, Any]],
) -> Difference:
    pairs = [(figure.of(a), figure.of(b)) for a, b in zip(mine, first, strict=True)]
    deltas = [a - b for a, b in pairs if a is not None and b is not None]
    low, high = interval(deltas)
    extra = [int(a["finished"]) - int(b["finished"]) for a, b in zip(mine, first, strict=True)]
    return Difference(
        policy=policy,
        baseline=baseline,
        figure=figure,
        pairs=len(deltas),
        mean=statistics.fmean(deltas) if deltas else None,
        low=low,
        high=high,
        verdict=_verdict(figure, low, high, extra),
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


def _verdict(
    figure: Figure, low: float | None, high: float | None, extra: Sequence[int]
) -> Literal["better", "worse"] | None:
    """Latencies look good where fewer requests finish: that bars "better", and more bar "worse"."""
    if figure.better is None or low is None or high is None or low <= 0 <= high:
        return None
    if (high < 0) == (figure.better == "lower"):
        return "better" if min(extra) >= 0 else None
    return "worse" if max(extra) <= 0 else None
