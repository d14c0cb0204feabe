"""Which figures of a summary are shown, in which unit, and which way is better."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

import attrs

from sched_core.errors import InputError, did_you_mean

Better = Literal["lower", "higher"]


@attrs.frozen
class Figure:
    """One row of a table."""

    path: tuple[str, ...]
    """Keys into the summary, outermost first."""
    label: str
    unit: str = ""
    better: Better | None = None
    """None: nobody's aim in itself, so no verdict is given."""
    decimals: int = 0
    scale: float = 1.0
    """Shown is the summary's value times this."""
    exact: bool = False
    """Of requests that are left out of all other figures: a difference of one is one."""

    @property
    def name(self) -> str:
        """As `--figures` takes it: `ttft.p99`."""
        return ".".join(self.path)

    def of(self, summary: Mapping[str, Any]) -> float | None:
        """The value in a summary, unscaled; None where it is not defined."""
        value: Any = summary
        for key in self.path:
            value = value.get(key)
            if value is None:
                return None
        return float(value)

    def of_class(self, kind: str, name: str) -> "Figure":
        """The same of a tenant or priority."""
        noun = CLASSES[kind]
        return attrs.evolve(
            self, path=(kind, name, *self.path), label=f"{self.label}, {noun} {name}"
        )


def _figure(path: str, *args: Any) -> Figure:
    return Figure(tuple(path.split(".")), *args)


def _count(name: str, better: Better | None = None) -> Figure:
    return Figure((name,), name, better=better, exact=True)


def _latency(key: str, label: str, unit: str) -> list[Figure]:
    scale, decimals = (1e3, 2) if unit == "ms" else (1.0, 3)
    return [
        _figure(f"{key}.{name}", f"{label} {name}", unit, "lower", decimals, scale)
        for name in ("mean", "p50", "p90", "p99")
    ]


def _share(path: str, label: str, better: Better | None = None) -> Figure:
    return _figure(path, label, "%", better, 2, 100.0)


FIGURES = (
    _count("finished", "higher"),
    _count("rejected"),
    _count("aborted"),
    _count("unfinished", "lower"),
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
    _figure("swapped_bytes", "swapped", "MB", None, 1, 1e-6),
    _share("prefix_hit_rate", "prefix hit rate", "higher"),
    _share("kv_use.mean", "KV use mean"),
    _share("kv_use.peak", "KV use peak"),
    _figure("waiting.mean", "queue length mean", "", None, 2),
    _figure("running.mean", "running mean", "", None, 2),
    _figure("tenant_speeds.jain", "Jain of tenants' speeds", "", None, 4),
    _figure("tenant_speeds.max_over_min", "tenant speed max/min", "", None, 3),
)
"""In the order of the table."""

CLASSES = {"priorities": "priority", "tenants": "tenant"}
"""Groups of a summary -> what one of them is called."""

OF_CLASSES = (
    "ttft.mean", "ttft.p99", "tpot.p99", "e2el.p99", "slo_attainment", "own_slo.attainment",
)  # fmt: skip
"""Names of the figures that are shown of each class too."""

MANY = 5
"""Tenants or priorities, beyond which the tables leave their rows out."""


def figures_of(summaries: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """FIGURES, and OF_CLASSES of every priority and tenant where there are a few."""
    summaries = list(summaries)
    return [*FIGURES, *(one for kind in CLASSES for one in class_figures(summaries, kind))]


def class_figures(
    summaries: Iterable[Mapping[str, Any]], kind: str, names: Sequence[str] = OF_CLASSES
) -> list[Figure]:
    """The figures `names` of each class of a `kind`; none where there is one class, or MANY."""
    classes = list(dict.fromkeys(name for summary in summaries for name in summary[kind]))
    if not 2 <= len(classes) <= MANY:
        return []
    return [figure(name).of_class(kind, each) for name in names for each in classes]


def figure(name: str) -> Figure:
    """That of FIGURES called `name`."""
    return _BY_NAME[name]


_BY_NAME = {figure.name: figure for figure in FIGURES}


def chosen_figures(names: Sequence[str], summaries: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """The figures called `names`, of all numbers in the summaries; raises InputError."""
    summaries = list(summaries)
    known = {one.name: one for summary in summaries for one in _numbers(summary)}
    known |= {one.name: one for one in FIGURES}
    for name in names:
        if name not in known:
            raise InputError(
                f"unknown figure{did_you_mean(name, known)}",
                field="--figures",
                value=name,
                expected="keys of a summary, such as ttft.p99 or priorities.0.ttft.p99",
            )
    return [known[name] for name in names]


def _numbers(summary: Mapping[str, Any], *path: str) -> Iterator[Figure]:
    """Every number of a summary; one that FIGURES does not have under its plain name."""
    for key, value in summary.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            yield from _numbers(value, *here)
        elif path and path[0] in CLASSES and (known := _BY_NAME.get(".".join(here[2:]))):
            yield known.of_class(*here[:2])
        elif isinstance(value, int | float | None) and not isinstance(value, bool):
            yield Figure(here, ".".join(here), decimals=0 if isinstance(value, int) else 3)


def averaged(figure: Figure, runs: Iterable[Mapping[str, Any]]) -> float | None:
    """The mean over the seeds that have the figure, unscaled."""
    values = [value for run in runs if (value := figure.of(run)) is not None]
    return fmean(values) if values else None
