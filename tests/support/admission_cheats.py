"""Policies that keep something behind a `yield` of `select_admissions`, and honest ones."""

from collections.abc import Iterator
from itertools import islice

import attrs

from sched_core import RequestView, SchedulerView, hookimpl


def first_of(tenant: str, view: SchedulerView) -> RequestView | None:
    return next((request for request in view.waiting if request.tenant == tenant), None)


@attrs.define(eq=False)
class MovesOnBehindTheYield:
    """Tenants take turns; but with the last seat taken nobody comes back to pass the turn on."""

    _ring: list[str] = attrs.field(init=False, factory=lambda: ["a", "b"])

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        while (request := self._next(view)) is not None:
            yield request
            self._move_on()

    def _next(self, view: SchedulerView) -> RequestView | None:
        return first_of(self._ring[0], view) or first_of(self._ring[1], view)

    def _move_on(self) -> None:
        self._ring.reverse()


@attrs.define(eq=False)
class MovesOnInAPart(MovesOnBehindTheYield):
    """The same, where the rest of the generator is a loop over another."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        for request in islice(super().select_admissions(view), 3):
            if view.fits(request):
                yield request


@attrs.define(eq=False)
class MovesOnInADelegate(MovesOnBehindTheYield):
    """The same, delegated to."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        if view.seats_left:
            yield from super().select_admissions(view)


@attrs.define(eq=False)
class CountsBehindTheYield:
    """Who was admitted least is next, counted too late."""

    _admitted: dict[str, int] = attrs.field(init=False, factory=lambda: {"a": 0, "b": 0})

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        for tenant in sorted(self._admitted, key=self._admitted.__getitem__):
            request = first_of(tenant, view)
            if request is not None:
                yield request
                if request.is_running:
                    self._admitted[tenant] += 1


@attrs.define(eq=False)
class MovesOnBeforeTheYield(MovesOnBehindTheYield):
    """Honest: nothing is left to do when the request is offered."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        while (request := self._next(view)) is not None:
            self._move_on()
            yield request


@attrs.define(eq=False)
class MovesOnWhileItLooks(MovesOnBehindTheYield):
    """Honest: a lap of the ring, which stays where the engine stops."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        for _ in range(2):
            tenant = self._ring[0]
            self._ring.reverse()
            if request := first_of(tenant, view):
                yield request


@attrs.define(eq=False)
class CountsBeforeTheYield(CountsBehindTheYield):
    """Honest: an offer counts, and the next one would count too if it were asked for."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        for tenant in sorted(self._admitted, key=self._admitted.__getitem__):
            if request := first_of(tenant, view):
                self._admitted[tenant] += 1
                yield request


@attrs.define(eq=False)
class CountsWhenTold(CountsBehindTheYield):
    """Honest: observers are told of every admission."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        while view.waiting:
            tenant = min(
                {request.tenant: None for request in view.waiting},
                key=self._admitted.__getitem__,
            )
            request = first_of(tenant, view)
            assert request is not None
            yield request
            if not request.is_running:
                return

    @hookimpl
    def request_admitted(self, request: RequestView) -> None:
        self._admitted[request.tenant] += 1


class OneByOne:
    """An iterator that is no generator."""

    def __init__(self, ring: list[str], view: SchedulerView) -> None:
        self._ring, self._view = ring, view

    def __iter__(self) -> "OneByOne":
        return self

    def __next__(self) -> RequestView:
        for tenant in list(self._ring):
            self._ring.reverse()
            if request := first_of(tenant, self._view):
                return request
        raise StopIteration


@attrs.define(eq=False)
class MovesOnInAnIterator(MovesOnBehindTheYield):
    """Honest: it has no yield at all."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        return OneByOne(self._ring, view)


CHEATS = (MovesOnBehindTheYield, MovesOnInAPart, MovesOnInADelegate, CountsBehindTheYield)
HONEST = (MovesOnBeforeTheYield, MovesOnWhileItLooks, CountsBeforeTheYield, CountsWhenTold,
          MovesOnInAnIterator)  # fmt: skip
