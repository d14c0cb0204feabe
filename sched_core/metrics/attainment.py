"""Which requests kept the times that were asked of them: their own SLOs, or limits of a run.

A request is counted where at least one limit holds for it, and good where it finished within all
of them: rejected, aborted and unfinished ones count against. As in vLLM a request of one token has
a TPOT of 0, and a limit may just be met.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sched_core.limits import NANOSECONDS
from sched_core.metrics.latency import Columns, Floats, finish_ns, in_state
from sched_core.metrics.recorder import SLOS, Recorder
from sched_core.request import RequestState

Limits = Mapping[str, Floats]
"""metric -> nanoseconds per request; NaN where it has no limit."""


class Attained(NamedTuple):
    """Two marks per request."""

    counted: NDArray[np.bool_]
    good: NDArray[np.bool_]

    def among(self, mine: NDArray[np.bool_]) -> float | None:
        """The share of `mine` that is good; None where none is counted."""
        counted = int((self.counted & mine).sum())
        return int((self.good & mine).sum()) / counted if counted else None


def attained(times: Mapping[str, Floats], rows: Columns, limits: Limits) -> Attained:
    """Who kept all of `limits`, of those who arrived."""
    taken = {
        **times,
        "tpot": np.where(rows["output_tokens"] > 1, times["tpot"], 0.0),
        "deadline": finish_ns(rows),
    }
    counted = np.zeros(len(rows["state"]), dtype=bool)
    good = in_state(rows, RequestState.FINISHED)
    for name, limit in limits.items():
        counted |= ~np.isnan(limit)
        good = good & (np.isnan(limit) | (taken[name] <= limit))
    counted &= ~in_state(rows, RequestState.PENDING)
    return Attained(counted, good & counted)


def own_limits(recorder: Recorder, rows: Columns) -> Limits:
    """What the requests ask for themselves."""
    place = {number: row for row, number in enumerate(rows["submitted_seq"].tolist())}
    limits = np.full((len(SLOS), len(place)), np.nan)
    for number, asked in recorder.slos.items():
        if number in place:
            limits[:, place[number]] = [np.nan if s is None else s * NANOSECONDS for s in asked]
    return {name.removesuffix("_slo"): limits[index] for index, name in enumerate(SLOS)}


def own_slo(times: Mapping[str, Floats], rows: Columns, limits: Limits) -> dict[str, Any]:
    """How many requests have an SLO of their own, how many keep it, and the share by metric."""
    whole = attained(times, rows, limits)
    everyone = np.ones(len(rows["state"]), dtype=bool)
    return {
        "requests": int(whole.counted.sum()),
        "attained": int(whole.good.sum()),
        "attainment": whole.among(everyone),
        **{
            name: attained(times, rows, {name: limit}).among(everyone)
            for name, limit in limits.items()
        },
    }
