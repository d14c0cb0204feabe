"""A workload in figures, before anything is simulated."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from sched_core.workload.further import further_of
from sched_core.workload.reuse import repeated_share
from sched_core.workload.source import Workload


def summarize(workload: Workload) -> dict[str, object]:
    """Plain JSON values in a fixed order; seconds, tokens, requests; null where undefined."""
    requests = sorted(workload.requests, key=lambda request: request.arrival)
    return {
        "setting": workload.description,
        "requests": len(requests),
        "dropped": workload.dropped,
        "max_concurrency": workload.max_concurrency,
        **_arrivals([request.arrival for request in requests]),
        "prompt_len": _spread([request.prompt_len for request in requests]),
        "output_len": _spread([request.output_len for request in requests]),
        "tenants": _counts(request.tenant for request in requests),
        "priorities": _counts(request.priority for request in requests),
        **further_of(workload.requests),
        "repeated_prompt_share": repeated_share(requests),
    }


def _arrivals(times: Sequence[float]) -> dict[str, object]:
    """`duration`: first to last arrival; `request_rate`: gaps per second of it; `gap_cv`: standard
    deviation of the gaps over their mean (Poisson 1, constant 0)."""
    gaps = np.diff(times)
    duration = float(gaps.sum())
    return {
        "duration": duration,
        "request_rate": len(gaps) / duration if duration else None,
        "gap_cv": float(gaps.std() / gaps.mean()) if duration else None,
    }


def _spread(lengths: Sequence[int]) -> dict[str, float | int] | None:
    """Mean, p50, p99 (numpy's linear interpolation) and maximum; None of nothing."""
    if not lengths:
        return None
    p50, p99 = np.percentile(lengths, [50, 99]).tolist()
    return {"mean": float(np.mean(lengths)), "p50": p50, "p99": p99, "max": max(lengths)}


def _counts(values: Iterator[Hashable]) -> dict[str, int]:
    """Requests per value, the most frequent first, ties in order of appearance."""
    return {str(value): count for value, count in Counter(values).most_common()}
