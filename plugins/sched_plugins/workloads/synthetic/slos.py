"""What requests ask for themselves, by priority or tenant.

`ttft:0.5@0/2@1` gives priority 0 half a second to its first token and priority 1 two; a limit
without a class is that of everyone else: `ttft:0.5@0/2,tpot:0.05`. A name is a tenant:
`e2el:30@gold`. Of a limit for the priority and one for the tenant the smaller holds.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sched_core import InputError, UnknownName, limits

METRICS = ("ttft", "tpot", "e2el")
_EXPECTED = "METRIC:SECONDS[@CLASS]/...,... such as ttft:0.5@0/2@1,tpot:0.05"
_PRIORITY = re.compile(r"-?[0-9]{1,9}")


class Slo(NamedTuple):
    """The limits on one metric, in seconds."""

    metric: str
    everyone: float | None
    of_class: dict[int | str, float]
    """Priority (an integer) or tenant (a text) -> its limit."""

    def of(self, priority: int, tenant: str) -> float | None:
        """What a request of this priority and tenant asks for."""
        found = [self.of_class[name] for name in (priority, tenant) if name in self.of_class]
        return min(found) if found else self.everyone


def parse_slos(text: str) -> list[Slo]:
    """One per metric; raises InputError or UnknownName on any other text."""
    slos = [_slo(part) for part in text.split(",")] if text else []
    metrics = [slo.metric for slo in slos]
    if len(set(metrics)) < len(metrics):
        raise InputError("a metric is given twice", value=text, expected=_EXPECTED)
    return slos


def unknown_classes(slos: Sequence[Slo], priorities: set[int], tenants: set[str]) -> None:
    """Raises UnknownName for a class that the workload does not draw."""
    for slo in slos:
        for name in slo.of_class:
            if name not in (priorities if isinstance(name, int) else tenants):
                kind = "priority" if isinstance(name, int) else "tenant"
                known = priorities if isinstance(name, int) else tenants
                raise UnknownName(kind, str(name), map(str, known), where=f"slo {slo.metric}")


def _slo(part: str) -> Slo:
    metric, _, written = part.partition(":")
    if metric not in METRICS:
        raise UnknownName("metric", metric, METRICS, where=f"slo {part!r}")
    everyone, of_class = None, {}
    for piece in written.split("/"):
        seconds, at, name = piece.partition("@")
        limit = _seconds(seconds, piece)
        key: int | str = int(name) if _PRIORITY.fullmatch(name) else name
        if (at and (not name or key in of_class)) or (not at and everyone is not None):
            raise InputError("no class, or one given twice", value=part, expected=_EXPECTED)
        if at:
            of_class[key] = limit
        else:
            everyone = limit
    return Slo(metric, everyone, of_class)


def _seconds(written: str, piece: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = -1.0
    if not limits.SECONDS.holds(seconds):
        raise InputError("not a limit", value=piece, expected=_EXPECTED)
    return seconds
