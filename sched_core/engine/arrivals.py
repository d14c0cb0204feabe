"""Which request enters the system when: open loop by its stamp, closed loop by a free slot, a later
turn of a session when the answer before has ended."""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from sched_core.limits import NANOSECONDS
from sched_core.request import Request
from sched_core.workload.sessions import turns
from sched_core.workload.source import Workload


class Arrivals:
    """The requests that are still to come, by (arrival, position in the workload).

    Raises InputError where a session has one turn twice.
    """

    def __init__(self, workload: Workload) -> None:
        specs = workload.requests
        self._stamps = [round(spec.arrival * NANOSECONDS) for spec in specs]
        self._specs = specs
        self._turns = turns(specs)
        self._behind = {turn.after: row for row, turn in self._turns.items()}
        self._held = {row for row, turn in self._turns.items() if turn.after is not None}
        """Later turns that wait for an answer."""
        rows = [row for row in range(len(specs)) if row not in self._held]
        self._order = sorted(rows, key=lambda row: (self._stamps[row], row))
        self._next = 0
        self._replies: list[tuple[int, int]] = []
        """Later turns whose time is known: (nanoseconds, row)."""
        self._left = len(specs)
        self._free_since: deque[int] | None = None
        if workload.max_concurrency is not None:
            slots = min(workload.max_concurrency, len(specs))  # more are never taken
            self._free_since = deque([0] * slots)

    def __len__(self) -> int:
        return self._left

    def _head(self) -> tuple[int, int] | None:
        """(stamp, row) of who is next, slots aside."""
        if self._next < len(self._order):
            row = self._order[self._next]
            first = self._stamps[row], row
            return min(first, self._replies[0]) if self._replies else first
        return self._replies[0] if self._replies else None

    def next_ns(self) -> int | None:
        """When the next request comes; None if nobody is known to, or all slots are taken."""
        head = self._head()
        if head is None or self._free_since is None:
            return None if head is None else head[0]
        return max(head[0], self._free_since[0]) if self._free_since else None

    def pop(self) -> Request:
        """The next request, stamped with the time at which it is sent."""
        arrival_ns, head = self.next_ns(), self._head()
        assert arrival_ns is not None
        assert head is not None
        if self._free_since is not None:
            self._free_since.popleft()
        if self._replies and head == self._replies[0]:
            heappop(self._replies)
        else:
            self._next += 1
        return self._request(head[1], arrival_ns)

    def _request(self, row: int, arrival_ns: int) -> Request:
        self._left -= 1
        request, turn = Request(self._specs[row], row, arrival_ns), self._turns.get(row)
        if turn is not None:
            request.stream, request.answer = turn.stream, turn.answer
        return request

    def ended(self, now_ns: int, requests: Sequence[Request]) -> None:
        """`requests` left the system: as many slots are free, and their sessions go on.

        They do so however a turn ended: who is refused or gives up asks the next thing.
        """
        if self._free_since is not None:
            self._free_since.extend([now_ns] * len(requests))
        if not self._turns:
            return
        for request in requests:
            row = self._behind.get(request.submitted_seq)
            if row is not None:
                self._held.discard(row)
                think_ns = round((self._specs[row].think_time or 0.0) * NANOSECONDS)
                heappush(self._replies, (max(self._stamps[row], now_ns + think_ns), row))

    def rest(self, now_ns: int) -> list[Request]:
        """Everyone who has not come by `now_ns`, where the run ends; nobody is left then.

        Who waits for a slot or for an answer could come now at the earliest.
        """
        known = [(self._stamps[row], row) for row in self._order[self._next :]] + self._replies
        known += [(max(self._stamps[row], now_ns), row) for row in sorted(self._held)]
        earliest = 0 if self._free_since is None else now_ns
        return [self._request(row, max(stamp, earliest)) for stamp, row in known]
