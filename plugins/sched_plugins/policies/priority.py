"""Priorities given by the client, strict or softened by age."""

from math import inf

import attrs
from attrs.validators import and_, gt, lt, optional

from sched_core import RequestView, hookimpl, toolbox

_seconds = and_(gt(0.0), lt(inf))


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

    aging: float | None = attrs.field(default=None, validator=optional(_seconds))

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.priority if self.aging is None else toolbox.aged(request, self.aging)


@attrs.define(eq=False)
class PriorityAging:
    """Priority that grows with waiting.

    Rule: `priority:aging=PERIOD` under a name of its own; see there.
    Parameters: `period`, seconds of waiting that are worth one level.
    Fails by: a period far above the usual wait is strict priority, one far below it is fcfs.
    """

    priority_moves = "static"

    period: float = attrs.field(default=30.0, validator=_seconds)

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return toolbox.aged(request, self.period)
