"""Which figures of a summary are shown, in which unit, and which way is better."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs

Better = Literal["lower", "higher"]


@attrs.frozen
class Figure:
    """One row of a table."""

    path: tuple[str, ...]
    """Keys into the summary, outermost first."""
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
        for key in self.path:
            value = value.get(key)
            if value is None:
                return None
        return float(value)


def _figure(path: str, *args: Any) -> Figure:
    return Figure(tuple(path.split(".")), *args)


def _latency(key: str, label: str, unit: str) -> list[Figure]:
    scale, decimals = (1e3, 2) if unit == "ms" else (1.0, 3)
    return [
        _figure(f"{key}.{name}", f"{label} {name}", unit, "lower", decimals, scale)
        for name in ("mean", "p50", "p99")
    ]


def _share(path: str, label: str, better: Better | None = None) -> Figure:
    return _figure(path, label, "%", better, 2, 100.0)


FIGURES = (
    _figure("finished", "finished", "", "higher"),
    _figure("rejected", "rejected"),
    _figure("aborted", "aborted"),
    _figure("unfinished", "unfinished", "", "lower"),
    *_latency("ttft", "TTFT", "s"),
    *_latency("tpot", "TPOT", "ms"),
    *_latency("itl", "ITL", "ms"),
    *_latency("e2el", "E2EL", "s"),
    _figure("makespan", "makespan", "s", "lower", 2),
    _figure("request_throughput", "requests", "1/s", "higher", 3),
    _figure("output_throughput", "output tokens", "1/s", "higher", 1),
    _figure("total_token_throughput", "total tokens", "1/s", "higher", 1),
    _figure("request_goodput", "goodput", "1/s", "higher", 3),
    _share("slo_attainment", "SLO attainment", "higher"),
    _share("own_slo.attainment", "own SLO attainment", "higher"),
    _figure("preemptions", "preemptions"),
    _share("recompute_tax", "recompute tax", "lower"),
    _share("padding_share", "padding", "lower"),
    _figure("swapped_bytes", "swapped", "MB", "lower", 1, 1e-6),
    _share("prefix_hit_rate", "prefix hit rate", "higher"),
    _share("kv_use.mean", "KV use mean"),
    _share("kv_use.peak", "KV use peak"),
    _figure("waiting.mean", "queue length mean", "", "lower", 2),
    _figure("running.mean", "running mean", "", None, 2),
    _figure("tenant_speeds.jain", "Jain of tenants' speeds", "", None, 4),
    _figure("tenant_speeds.max_over_min", "tenant speed max/min", "", None, 3),
)
"""In the order of the table."""

MANY = 5
"""Tenants or priorities, beyond which the tables leave their rows out."""


OF_A_CLASS = (
    _figure("ttft.mean", "TTFT mean", "s", "lower", 3),
    _share("slo_attainment", "SLO attainment", "higher"),
    _share("own_slo_attainment", "own SLO attainment", "higher"),
)
"""What is shown of every priority and tenant."""


def figures_of(summaries: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """FIGURES, and those of every priority and tenant where there are a few."""
    summaries = list(summaries)
    return [*FIGURES, *_by_group(summaries, "priorities"), *_by_group(summaries, "tenants")]


def _by_group(summaries: Iterable[Mapping[str, Any]], kind: str) -> list[Figure]:
    names = list(dict.fromkeys(name for summary in summaries for name in summary[kind]))
    if not 2 <= len(names) <= MANY:
        return []
    noun = {"priorities": "priority", "tenants": "tenant"}[kind]
    return [
        attrs.evolve(
            figure, path=(kind, name, *figure.path), label=f"{figure.label}, {noun} {name}"
        )
        for figure in OF_A_CLASS
        for name in names
    ]
