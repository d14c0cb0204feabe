"""Priorities given by the client, strict or softened by age."""

import attrs

from sched_core import RequestView, hookimpl
from sched_plugins.workloads.validators import finite_above


@attrs.define(eq=False)
class Priority:
    """Most urgent first, by the client's priority.

    Rule: smaller `priority` first, then arrival, then submission; the victim is the last in that
    order (vLLM's `policy="priority"`). With `aging`, every `aging` seconds of waiting are worth
    one level, unrounded: `priority - wait / aging` has the same order as the fixed key
    `priority * aging + arrival`, so two requests never change places.
    Parameters: `aging`, seconds per level; none is strict priority.
    Source: vLLM 0.33 request_queue.py; aging as asked for in vLLM PR 20608.
    Fails by: starvation. Strict, a low priority waits as long as higher ones keep coming; with
    aging it is overtaken only by requests of priority `p` that arrive within
    `aging * (its priority - p)` seconds after it.
    """

    priority_moves = "static"

    aging: float | None = attrs.field(default=None, validator=finite_above(0))

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        if self.aging is None:
            return request.priority
        return request.priority * self.aging + request.arrival


@attrs.define(eq=False)
class PriorityAging(Priority):
    """Priority that grows with waiting.

    Rule: `priority:aging=PERIOD` under a name of its own; see there.
    Parameters: `period`, seconds of waiting that are worth one level.
    Fails by: a period far above the usual wait is strict priority, one far below it is fcfs.
    """

    aging: float = attrs.field(default=30.0, validator=finite_above(0), alias="period")
