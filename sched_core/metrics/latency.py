"""Latencies of requests, and statistics over them; as vLLM's benchmark defines both."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sched_core.limits import NANOSECONDS
from sched_core.metrics.recorder import STATES
from sched_core.request import RequestState

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[np.int64]]
"""`Recorder.columns()`."""

PERCENTILES: Final = (50, 90, 99)


def in_state(rows: Columns, *states: RequestState) -> NDArray[np.bool_]:
    """Which rows ended in one of `states`."""
    return np.isin(rows["state"], [STATES.index(state) for state in states])


def latencies(rows: Columns) -> dict[str, Floats]:
    """Per request, in nanoseconds; NaN where not defined.

    ttft: first token - arrival, the first emission counting whatever happens later. e2el: last
    token - arrival, of finished requests. tpot: (e2el - ttft) / (output tokens - 1), of finished
    requests of more than one token. queue_time: first scheduled - arrival.
    """
    arrival, finish = rows["arrival_ns"], finish_ns(rows)
    first_token = reached(rows["first_token_ns"])
    gaps = np.where(rows["output_tokens"] > 1, rows["output_tokens"] - 1.0, np.nan)
    return {
        "ttft": first_token - arrival,
        "tpot": (finish - first_token) / gaps,
        "e2el": finish - arrival,
        "queue_time": reached(rows["first_scheduled_ns"]) - arrival,
    }


def finish_ns(rows: Columns) -> Floats:
    """When the last token came; NaN for requests that did not finish."""
    return np.where(in_state(rows, RequestState.FINISHED), rows["finish_ns"], np.nan)


def reached(stamps: NDArray[np.int64]) -> Floats:
    """Nanoseconds, NaN for the -1 that stands for "never"."""
    return np.where(stamps >= 0, stamps, np.nan)


def percentiles(values: NDArray[Any], counts: NDArray[np.int64], percents: ArrayLike) -> Floats:
    """`np.percentile(np.repeat(values, counts), percents)`, linear, without the repeating.

    `values` are sorted, and not empty.
    """
    ends = np.cumsum(counts)
    last = ends[-1] - 1
    position = last * (np.asarray(percents) / 100)
    below = values[np.searchsorted(ends, np.floor(position), side="right")]
    above = values[np.searchsorted(ends, np.minimum(np.floor(position) + 1, last), side="right")]
    t, step = position - np.floor(position), above - below
    lerp: Floats = np.where(t < 0.5, below + step * t, above - step * (1 - t))  # as numpy does
    return lerp


def describe(nanoseconds: NDArray[Any], counts: NDArray[np.int64] | None = None) -> dict[str, Any]:
    """Count, mean, percentiles and maximum in seconds of the values that are defined."""
    if counts is None:
        nanoseconds = np.sort(nanoseconds[~np.isnan(nanoseconds)])
        counts = np.ones(len(nanoseconds), dtype=np.int64)
    names = [f"p{percent}" for percent in PERCENTILES]
    total = int(counts.sum())
    if not total:
        return {"count": 0, "mean": None, **dict.fromkeys(names), "max": None}
    seconds = percentiles(nanoseconds, counts, PERCENTILES) / NANOSECONDS
    mean = float(np.sum(nanoseconds * counts.astype(float))) / (total * NANOSECONDS)
    quantiles = dict(zip(names, seconds.tolist(), strict=True))
    return {"count": total, "mean": mean, **quantiles, "max": float(nanoseconds[-1]) / NANOSECONDS}
