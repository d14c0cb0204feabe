"""Policies that decide by the time and do not say so, and honest ones."""

import attrs

from sched_core import RequestView, SchedulerView, hookimpl


@attrs.define(eq=False)
class HoldsBackAndNeverWakes:
    """Lets nobody in during odd seconds, which only a busy engine sees pass."""

    @hookimpl
    def can_admit(self, view: SchedulerView) -> bool:
        return view.now % 2 < 1


@attrs.define(eq=False)
class HoldsBackAndWakes(HoldsBackAndNeverWakes):
    """Honest: the same, and says when it will."""

    admission_moves = "event"

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float:
        return view.now // 2 * 2 + 2


@attrs.define(eq=False)
class HoldsBackByTheClock(HoldsBackAndWakes):
    """Says that only events matter, and wakes too late."""

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float:
        return view.now // 8 * 8 + 8


@attrs.define(eq=False)
class TakesTurnsByTheClock:
    """Says that only events matter, and takes everybody out every few seconds."""

    preemption_moves = "event"

    @hookimpl
    def select_preemptions(self, view: SchedulerView) -> list[RequestView]:
        return [request for request in view.running if view.now % 7 < 1]


@attrs.define(eq=False)
class TakesTurnsWhenItSays(TakesTurnsByTheClock):
    """Honest: it names the time as well."""

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float:
        return view.now // 7 * 7 + 7
