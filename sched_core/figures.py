"""Which figures of a summary are shown, in which unit, and which way is better."""

from collections.abc import Mapping
from typing import Any, Literal

import attrs

Better = Literal["lower", "higher"]


@attrs.frozen
class Figure:
    """One row of a table."""

    path: str
    """Keys into the summary, joined by dots."""
    label: str
    unit: str = ""
    better: Better | None = None
    """None: neither way is better in itself."""
    decimals: int = 0
    scale: float = 1.0
    """Shown is the summary's value times this."""

    def of(self, summary: Mapping[str, Any]) -> float | None:
        """The value in a summary, unscaled; None where it is not defined."""
        value: Any = summary
        for key in self.path.split("."):
            value = value[key]
        return None if value is None else float(value)


def _latency(key: str, label: str, unit: str) -> list[Figure]:
    scale, decimals = (1e3, 2) if unit == "ms" else (1.0, 3)
    return [
        Figure(f"{key}.{name}", f"{label} {name}", unit, "lower", decimals, scale)
        for name in ("mean", "p50", "p99")
    ]


def _share(path: str, label: str, better: Better | None = None) -> Figure:
    return Figure(path, label, "%", better, 2, 100.0)


FIGURES = (
    Figure("finished", "finished", "", "higher"),
    Figure("rejected", "rejected"),
    Figure("aborted", "aborted"),
    Figure("unfinished", "unfinished", "", "lower"),
    *_latency("ttft", "TTFT", "s"),
    *_latency("tpot", "TPOT", "ms"),
    *_latency("itl", "ITL", "ms"),
    *_latency("e2el", "E2EL", "s"),
    Figure("makespan", "makespan", "s", "lower", 2),
    Figure("request_throughput", "requests", "1/s", "higher", 3),
    Figure("output_throughput", "output tokens", "1/s", "higher", 1),
    Figure("total_token_throughput", "total tokens", "1/s", "higher", 1),
    Figure("request_goodput", "goodput", "1/s", "higher", 3),
    _share("slo_attainment", "SLO attainment", "higher"),
    Figure("preemptions", "preemptions", "", "lower"),
    _share("recompute_tax", "recompute tax", "lower"),
    Figure("swapped_bytes", "swapped", "MB", "lower", 1, 1e-6),
    _share("prefix_hit_rate", "prefix hit rate", "higher"),
    _share("kv_use.mean", "KV use mean"),
    _share("kv_use.peak", "KV use peak"),
    Figure("waiting.mean", "queue length mean", "", "lower", 2),
    Figure("running.mean", "running mean", "", None, 2),
    Figure("fairness.jain", "fairness (Jain)", "", "higher", 4),
    Figure("fairness.max_over_min", "tenant speed max/min", "", "lower", 3),
)
"""In the order of the table."""
