"""Does the load ask for more than was served? Told by the queue, not by rates: those of a short
run are low because it begins and ends empty."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sched_core.limits import NANOSECONDS
from sched_core.metrics.latency import Columns, in_state, reached
from sched_core.request import RequestState

GROWTH: Final = 0.05
"""Overloaded from where the queue grows by this share of the requests that arrive."""
FEWEST: Final = 5
"""But by this many requests at least: fewer come and go with single steps."""


def load(rows: Columns, max_concurrency: int | None) -> dict[str, Any]:
    """What was offered, and how the queue took it.

    `offered` is arrivals per second between the first and the last; None in a closed loop, whose
    arrivals follow from what is served, and where all came at once. `waiting_halfway` and
    `waiting_at_last` are the requests that had arrived and not yet begun when the middle one and
    the last one arrived. `overloaded`: between these two the queue grew by at least GROWTH of
    the requests that arrived, and by FEWEST; None where `offered` is.
    """
    came = ~in_state(rows, RequestState.PENDING)
    arrivals = np.sort(rows["arrival_ns"][came])
    offered = None if max_concurrency is not None else _rate(arrivals)
    if not len(arrivals):
        halfway = at_last = 0
    else:
        halfway = _waiting(rows, arrivals[(len(arrivals) - 1) // 2])
        at_last = _waiting(rows, arrivals[-1])
    enough = max(FEWEST, GROWTH * (len(arrivals) - (len(arrivals) + 1) // 2))
    return {
        "max_concurrency": max_concurrency,
        "offered": offered,
        "waiting_halfway": halfway,
        "waiting_at_last": at_last,
        "overloaded": None if offered is None else at_last - halfway >= enough,
    }


def _rate(arrivals: NDArray[np.int64]) -> float | None:
    span = int(arrivals[-1] - arrivals[0]) if len(arrivals) else 0
    return (len(arrivals) - 1) * NANOSECONDS / span if span else None


def _waiting(rows: Columns, now: np.int64) -> int:
    """Arrived by `now`, and neither begun nor gone; who is rejected on arrival never waits."""
    rejected = in_state(rows, RequestState.REJECTED) & (rows["finish_ns"] < 0)
    begun, gone = reached(rows["first_scheduled_ns"]) <= now, reached(rows["finish_ns"]) <= now
    return int(((rows["arrival_ns"] <= now) & ~rejected & ~begun & ~gone).sum())
