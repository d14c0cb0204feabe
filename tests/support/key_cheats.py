"""Policies whose keys move otherwise than `priority_moves` says, and one that is honest."""

import attrs

from sched_core import RequestView, hookimpl


@attrs.define(eq=False)
class AgesAndIsStatic:
    """Aging, and the declaration of a policy without it."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView, now: float) -> float:
        return request.priority - (now - request.arrival) / 2


@attrs.define(eq=False)
class AgesWithEvents(AgesAndIsStatic):
    """Aging, which goes on while nothing happens to a tenant."""

    priority_moves = "event"


@attrs.define(eq=False)
class AgesLate(AgesAndIsStatic):
    """Aging that sets in after an hour."""

    @hookimpl
    def effective_priority(self, request: RequestView, now: float) -> float:
        return request.priority - (now - request.arrival > 3600)


@attrs.define(eq=False)
class CountsAndIsStatic:
    """Who has been admitted least is next, and that moves."""

    priority_moves = "static"
    admitted: dict[str, int] = attrs.field(init=False, factory=dict)

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return self.admitted.get(request.tenant, 0)

    @hookimpl
    def request_admitted(self, request: RequestView) -> None:
        self.admitted[request.tenant] = self.admitted.get(request.tenant, 0) + 1


@attrs.define(eq=False)
class CountsWithEvents(CountsAndIsStatic):
    """The same, honest."""

    priority_moves = "event"


@attrs.define(eq=False)
class CountsOthersWithEvents(CountsWithEvents):
    """Counts what happens to others too."""

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return -sum(count for who, count in self.admitted.items() if who != request.tenant)
