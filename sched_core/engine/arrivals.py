"""Which request enters the system when: open loop by its stamp, closed loop by a free slot."""

from collections import deque

from sched_core.limits import NANOSECONDS
from sched_core.request import Request
from sched_core.workload.source import Workload


class Arrivals:
    """The requests that are still to come, by (arrival, position in the workload)."""

    def __init__(self, workload: Workload) -> None:
        specs = workload.requests
        self._stamps = [round(spec.arrival * NANOSECONDS) for spec in specs]
        self._specs = specs
        self._order = sorted(range(len(specs)), key=lambda row: (self._stamps[row], row))
        self._next = 0
        self._free_since: deque[int] | None = None
        if workload.max_concurrency is not None:
            slots = min(workload.max_concurrency, len(specs))  # more are never taken
            self._free_since = deque([0] * slots)

    def __len__(self) -> int:
        return len(self._order) - self._next

    def next_ns(self) -> int | None:
        """When the next request comes; None if none is left or all slots are taken."""
        if self._next == len(self._order):
            return None
        stamp = self._stamps[self._order[self._next]]
        if self._free_since is None:
            return stamp
        return max(stamp, self._free_since[0]) if self._free_since else None

    def pop(self) -> Request:
        """The next request, stamped with the time at which it is sent."""
        arrival_ns = self.next_ns()
        assert arrival_ns is not None
        row = self._order[self._next]
        self._next += 1
        if self._free_since is not None:
            self._free_since.popleft()
        return Request(self._specs[row], row, arrival_ns)

    def ended(self, now_ns: int, count: int) -> None:
        """`count` requests left the system, so as many slots are free."""
        if self._free_since is not None:
            self._free_since.extend([now_ns] * count)
