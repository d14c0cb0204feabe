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

    def add(self, ns: int, what: int, request: Request | None = None) -> None:
        """Note an event."""
        order = 0 if request is None else request.submitted_seq
        heappush(self._events, (ns, what, order, request))

    def next_ns(self) -> int | None:
        """When the next event comes."""
        events = self._events
        while events:
            ns, _, _, request = events[0]
            if request is None or request.state not in ENDED:
                return ns
            heappop(events)
        return None

    def pop(self, until_ns: float) -> Event | None:
        """The next event, if it comes by then."""
        ns = self.next_ns()
        return None if ns is None or ns > until_ns else heappop(self._events)
