"""What was offered and what was served, in one line."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from sched_core.reports.report import Report

Loads = Mapping[str, Sequence[Mapping[str, Any]]]
"""Column -> the `load` of each of its summaries."""


def load_text(report: Report) -> str:
    """Such as `offered 5.0/s, served 3.9/s: overloaded`."""
    loads = {name: [run["load"] for run in runs] for name, runs in report.summaries.items()}
    first = report.results[0].summary
    slots, offered = first["load"]["max_concurrency"], _mean(loads, "offered")
    served = _served(report)
    if slots is not None:
        return f"a closed loop of {slots:,}, served {served}"
    if offered is None:
        return f"all at once, served {served}"
    return f"offered {offered:,.1f}/s, served {served}{_outcome(report, loads)}"


def _served(report: Report) -> str:
    """Of the slowest and the fastest policy, where they differ as printed."""
    rates = [
        fmean(found)
        for runs in report.summaries.values()
        if (found := [run["request_throughput"] for run in runs if run["request_throughput"]])
    ]
    ends = list(dict.fromkeys(f"{rate:,.1f}" for rate in (min(rates), max(rates)))) if rates else []
    return f"{' to '.join(ends)}/s" if ends else "nothing"


def _outcome(report: Report, loads: Loads) -> str:
    over = [name for name, found in loads.items() if any(one["overloaded"] for one in found)]
    if not over:
        until = "" if report.setting["drain"] else " until the last one ended"
        return f"{until}; the queue does not grow"
    whom = "" if len(over) == len(loads) else f" under {', '.join(over)}"
    grown = {name: loads[name] for name in over}
    halfway, last = _mean(grown, "waiting_halfway"), _mean(grown, "waiting_at_last")
    return f": overloaded{whom}; the queue grew from {halfway:,.0f} to {last:,.0f}"


def _mean(loads: Loads, key: str) -> float | None:
    found = [one[key] for runs in loads.values() for one in runs if one[key] is not None]
    return fmean(found) if found else None
