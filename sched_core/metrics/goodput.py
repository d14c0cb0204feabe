"""The limits that a run is judged by (vLLM's `--goodput`), for everyone or for a class.

As keys: `ttft`; `ttft@0`, of a priority; `ttft@gold`, of a tenant; or in full, `ttft@tenant=7`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from sched_core.errors import InputError, UnknownName
from sched_core.limits import is_number
from sched_core.metrics.attainment import Limits
from sched_core.metrics.latency import Columns, Floats
from sched_core.metrics.recorder import Recorder
from sched_core.workload.spec import RequestSpec

GOODPUT_METRICS: Final = ("ttft", "tpot", "e2el")


class _Class(NamedTuple):
    """Whom a limit is for: column `tenant` or `priority` and its value; None: everyone."""

    column: str | None
    value: Any = None


def _parsed(key: str) -> tuple[str, _Class]:
    metric, at, name = key.partition("@")
    if metric not in GOODPUT_METRICS:
        raise UnknownName("goodput metric", metric, GOODPUT_METRICS)
    if not at:
        return metric, _Class(None)
    column, equals, value = name.partition("=")
    if not equals or column not in ("tenant", "priority"):
        column, value = ("priority" if _is_integer(name) else "tenant"), name
    if column == "priority" and not _is_integer(value):
        raise InputError("no priority", field="goodput", value=key, expected="an integer")
    return metric, _Class(column, int(value) if column == "priority" else value)


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()


def check_goodput(limits: Mapping[str, float]) -> None:
    """Raise UnknownName or InputError unless `limits` are milliseconds per GOODPUT_METRICS, each
    for everyone or for a class."""
    for key, limit in limits.items():
        _parsed(key)
        if not is_number(limit) or not 0 <= limit < float("inf"):
            raise InputError(
                "out of range", field=f"goodput {key}", value=limit, expected="milliseconds >= 0"
            )


def check_classes(limits: Mapping[str, float], requests: Iterable[RequestSpec]) -> None:
    """Raises UnknownName for a class that none of `requests` has."""
    classes = [(key, name) for key in limits if (name := _parsed(key)[1]).column]
    if not classes:
        return
    known: dict[str, set[Any]] = {"tenant": set(), "priority": set()}
    for request in requests:
        known["tenant"].add(request.tenant)
        known["priority"].add(request.priority)
    for key, (column, value) in classes:
        if column is not None and value not in known[column]:
            names = map(str, sorted(known[column]))
            raise UnknownName(column, str(value), names, where=f"goodput {key}")


def limits_of_run(goodput: Mapping[str, float], recorder: Recorder, rows: Columns) -> Limits:
    """What `goodput` (milliseconds) asks of each request.

    A limit for its priority or its tenant takes the place of everyone's; of two such the smaller
    one holds.
    """
    found: dict[str, Floats] = {}
    keys = sorted(goodput, key=lambda key: "@" not in key)
    classes: dict[str, Floats] = {}
    for key in keys:
        metric, (column, value) = _parsed(key)
        if column is None:
            found[metric] = np.full(len(rows["state"]), goodput[key] * 1e6)
            continue
        mine = rows[column] == (recorder.tenants.get(value, -1) if column == "tenant" else value)
        limit = np.where(mine, goodput[key] * 1e6, np.nan)
        classes[metric] = np.fmin(classes[metric], limit) if metric in classes else limit
    for metric, limit in classes.items():
        general = found.get(metric, np.full(len(limit), np.nan))
        found[metric] = np.where(np.isnan(limit), general, limit)
    return found
