"""The waiting queue: everyone who is not running, sorted by who goes first."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator

from sched_core.request import Request, RequestState

_Entry = tuple[float, int, int, Request]
WAITING_STATES = (RequestState.WAITING, RequestState.SWAPPED)


class WaitingQueue:
    """Fresh, recomputed and swapped requests alike, by (effective priority, arrival, submission).

    The key is asked from `key` when a request enters, and again by `rekey`.
    """

    __slots__ = ("_entries", "_key", "_of_tenant")

    def __init__(self, key: Callable[[Request], float]) -> None:
        self._key = key
        self._entries: list[_Entry] = []
        self._of_tenant: dict[str, dict[Request, None]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, request: Request) -> bool:
        return request.state in WAITING_STATES

    def __iter__(self) -> Iterator[Request]:
        """In order; requests may enter and leave meanwhile."""
        index = 0
        while index < len(self._entries):
            entry = self._entries[index]
            yield entry[3]
            index = bisect_right(self._entries, entry)

    def ordered(self) -> list[Request]:
        """Everyone, in order."""
        return [entry[3] for entry in self._entries]

    def add(self, request: Request) -> None:
        """Let a request in."""
        request.sort_key = (self._key(request), request.arrival_ns, request.submitted_seq)
        insort(self._entries, (*request.sort_key, request))
        self._of_tenant.setdefault(request.tenant, {})[request] = None

    def remove(self, request: Request) -> None:
        """Let a request out."""
        del self._entries[bisect_left(self._entries, (*request.sort_key, request))]
        tenant = self._of_tenant[request.tenant]
        del tenant[request]
        if not tenant:
            del self._of_tenant[request.tenant]

    def rekey(self, tenants: set[str] | None = None) -> None:
        """Ask the key again, of everyone or of the requests of some tenants."""
        if tenants is None:
            requests = self.ordered()
            self._entries.clear()
            self._of_tenant.clear()
        else:
            requests = [r for t in sorted(tenants) for r in self._of_tenant.get(t, ())]
            for request in requests:
                self.remove(request)
        for request in requests:
            self.add(request)
