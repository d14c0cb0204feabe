"""For whom a run was good: figures per tenant and priority, and how even they are."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched_core.limits import NANOSECONDS
from sched_core.metrics.attainment import Attained
from sched_core.metrics.latency import Columns, Floats, describe, in_state
from sched_core.metrics.recorder import Recorder
from sched_core.request import RequestState


def fairness(
    recorder: Recorder,
    rows: Columns,
    times: Mapping[str, Floats],
    marks: Mapping[str, Attained],
) -> dict[str, Any]:
    """Figures per tenant and per priority, shares of `marks` included, and two between the
    tenants' speeds.

    `speed` is the output tokens per second that a group's requests spent in the system, from
    arrival to the end or the horizon: what its users see, and what it loses by waiting. (Tokens
    per second of the run would be the same for every policy that finishes everything.)
    `tenant_speeds` holds Jain's index of the tenants' speeds, and the largest over the smallest;
    both are None with fewer than two tenants that were in the system. Neither is fairness as the
    field means it, which is of the service that backlogged tenants get: where all wait in one
    queue their speeds are alike, however unlike their shares.
    """
    stay = _time_in_system(rows, recorder.end_ns)
    names = {index: name for name, index in recorder.tenants.items()}
    tenants = {
        names[index]: _group(rows, times, stay, marks, rows["tenant"] == index)
        for index in sorted(names, key=names.__getitem__)
    }
    priorities = {
        str(priority): _group(rows, times, stay, marks, rows["priority"] == priority)
        for priority in np.unique(rows["priority"]).tolist()
    }
    speeds = [group["speed"] for group in tenants.values() if group["speed"] is not None]
    between = {"jain": jain(speeds), "max_over_min": _spread(speeds)}
    return {"tenant_speeds": between, "tenants": tenants, "priorities": priorities}


def _time_in_system(rows: Columns, end_ns: int) -> Floats:
    """Nanoseconds per request; 0 for those that were refused, or had not come by the end."""
    ended = in_state(rows, RequestState.FINISHED, RequestState.ABORTED)
    stay = np.where(ended, rows["finish_ns"], end_ns) - rows["arrival_ns"]
    outside = in_state(rows, RequestState.REJECTED, RequestState.PENDING)
    return np.where(outside, 0.0, np.maximum(stay, 0))


def _group(
    rows: Columns,
    times: Mapping[str, Floats],
    stay: Floats,
    marks: Mapping[str, Attained],
    mine: NDArray[np.bool_],
) -> dict[str, Any]:
    finished = mine & in_state(rows, RequestState.FINISHED)
    tokens, seconds = int(rows["output_tokens"][mine].sum()), float(stay[mine].sum()) / NANOSECONDS
    return {
        "submitted": int(mine.sum()),
        "finished": int(finished.sum()),
        "output_tokens": tokens,
        "speed": tokens / seconds if seconds else None,
        **{name: describe(times[name][finished]) for name in ("ttft", "tpot", "e2el")},
        "slo_attainment": marks["slo_attainment"].among(mine),
        "own_slo": {"attainment": marks["own_slo"].among(mine)},
    }


def jain(values: Sequence[float]) -> float | None:
    """(sum x)^2 / (n sum x^2): 1 where all are alike (all 0 too), 1/n where one has everything.

    None for fewer than two values. Source: Jain, Chiu, Hawe, DEC-TR-301 (1984).
    """
    if len(values) < 2:
        return None
    squares = sum(value**2 for value in values)
    return min(1.0, sum(values) ** 2 / (len(values) * squares)) if squares else 1.0


def _spread(values: Sequence[float]) -> float | None:
    return max(values) / min(values) if len(values) > 1 and min(values) else None
