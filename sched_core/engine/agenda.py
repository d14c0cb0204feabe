"""What is to happen, by time."""

from heapq import heappop, heappush

from sched_core.request import ENDED, Request

STEP_ENDS, ARRIVES, GIVES_UP = range(3)
"""What happens at the same instant happens in this order."""

Event = tuple[int, int, int, Request | None]
"""(nanoseconds, which of the above, order among those, whom it concerns)."""


class Agenda:
    """Coming events; a client that gives up on a request that has ended is none."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self.arrives_ns: int | None = None
        """When the next request comes. It may become earlier: an answer may bring a reply."""

    def add(self, ns: int, what: int, request: Request | None = None) -> None:
        """Note any other event."""
        order = 0 if request is None else request.submitted_seq
        heappush(self._events, (ns, what, order, request))

    def next_ns(self) -> int | None:
        """When the next event comes."""
        event = self._next()
        return None if event is None else event[0]

    def pop(self, until_ns: float) -> Event | None:
        """The next event, if it comes by then."""
        event = self._next()
        if event is None or event[0] > until_ns:
            return None
        if event[1] != ARRIVES:
            heappop(self._events)
        return event

    def _next(self) -> Event | None:
        events = self._events
        while events and (request := events[0][3]) is not None and request.state in ENDED:
            heappop(events)
        arrives_ns = self.arrives_ns
        if arrives_ns is None or (events and events[0][:2] < (arrives_ns, ARRIVES)):
            return events[0] if events else None
        return arrives_ns, ARRIVES, 0, None
