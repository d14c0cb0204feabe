"""Which figures tell what a comparison comes to, and which are the same for all."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from sched_core.reports.differences import SMALLEST_EFFECT, Summaries
from sched_core.reports.figures import (
    CLASSES,
    Figure,
    averaged,
    class_figures,
    figure,
)

ROWS = 10
"""Of the first screen."""

STORY = (
    "finished", "rejected", "aborted", "unfinished", "request_goodput", "slo_attainment",
    "ttft.mean", "ttft.p99", "tpot.mean", "itl.p99", "e2el.mean", "e2el.p99", "output_throughput",
    "recompute_tax", "padding_share", "prefix_hit_rate", "ttft.p50", "preemptions", "makespan",
)  # fmt: skip
"""Names of figures, the first to be told first."""

CLASSES_AFTER = "ttft.p99"
"""Of STORY, and shown of each class where classes differ."""

CLASSES_DIFFER = 1.25
"""They do where under some policy one waits this many times as long as another."""

CLASS_ROWS = 4
"""Of several kinds of classes, those that differ most, as long as they fit."""


@attrs.frozen
class Story:
    """What a first screen shows."""

    rows: list[Figure]
    """At most ROWS."""
    same: list[Figure]
    """Those that all policies have alike, and that are not 0."""


def story(summaries: Summaries, smallest_effect: float = SMALLEST_EFFECT) -> Story:
    """Rows that differ between the policies; with one policy, or where none does, the first ones.

    A figure is the same where nobody is further from the first policy than `smallest_effect`,
    relative to it.
    """
    defined = [one for one in _told(summaries) if any(_values(one, summaries))]
    rows = [one for one in defined if not _is_same(one, summaries, smallest_effect)]
    same = [
        one
        for one in defined
        if one not in rows and any(_values(one, summaries)) and one.path[0] not in CLASSES
        and _is_same(one, summaries, smallest_effect)
    ]  # fmt: skip
    return Story(rows[:ROWS], same) if rows else Story(defined[:ROWS], [])


def _told(summaries: Summaries) -> Iterator[Figure]:
    for name in STORY:
        yield figure(name)
        if name == CLASSES_AFTER:
            yield from _classes(summaries)


def _classes(summaries: Summaries) -> Iterator[Figure]:
    """CLASSES_AFTER of each class of the kinds that differ."""
    spreads = {kind: _spread(summaries, kind) for kind in CLASSES}
    room = CLASS_ROWS
    for kind in sorted(CLASSES, key=lambda kind: -spreads[kind]):
        rows = class_figures(_all(summaries), kind, [CLASSES_AFTER])
        if spreads[kind] >= CLASSES_DIFFER and (len(rows) <= room or room == CLASS_ROWS):
            room -= len(rows)
            yield from rows


def _spread(summaries: Summaries, kind: str) -> float:
    """How many times as long one class waits for its first token as another, at the most."""
    spreads = [1.0]
    for runs in summaries.values():
        means = [averaged(one, runs) for one in class_figures(_all(summaries), kind, ["ttft.mean"])]
        waits = [mean for mean in means if mean]
        spreads.append(max(waits) / min(waits) if waits else 1.0)
    return max(spreads)


def _is_same(one: Figure, summaries: Summaries, smallest_effect: float) -> bool:
    first, *others = _values(one, summaries)
    if first is None:
        return not any(value is not None for value in others)
    reach = 0.0 if one.exact else smallest_effect * abs(first)
    return all(value is not None and abs(value - first) <= reach for value in others)


def _values(one: Figure, summaries: Summaries) -> list[float | None]:
    return [averaged(one, runs) for runs in summaries.values()]


def _all(summaries: Summaries) -> Sequence[Mapping[str, Any]]:
    return [one for runs in summaries.values() for one in runs]
