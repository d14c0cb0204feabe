"""The waiting queue: everyone who is not running, sorted by who goes first."""

from collections.abc import Callable, Iterator

from sortedcontainers import SortedList

from sched_core.request import WAITING_STATES, Key, Request


class WaitingQueue:
    """Fresh, recomputed and swapped requests alike, by (effective priority, arrival, submission).

    The priority is asked from `key` when a request enters, and again by `rekey`; without a `key`
    it is 0 for everyone.
    """

    __slots__ = ("_entries", "_key", "_of_tenant", "size")

    def __init__(self, key: Callable[[Request], Key] | None, *, by_tenant: bool) -> None:
        self._key = key
        self.size = 0
        """How many wait; `len` says the same, and takes longer."""
        # (priority, arrival, submission, request): no two are alike before the last
        self._entries: SortedList = SortedList()
        self._of_tenant: dict[str, dict[Request, None]] | None = {} if by_tenant else None
        """For `rekey` of some tenants; None where nobody asks for that."""

    def __len__(self) -> int:
        return self.size

    def __contains__(self, request: Request) -> bool:
        return request.state in WAITING_STATES

    def __iter__(self) -> Iterator[Request]:
        """In order; requests may enter and leave meanwhile."""
        entries, index = self._entries, 0
        while index < len(entries):
            entry = entries[index]
            yield entry[3]
            index = entries.bisect_right(entry)

    def ordered(self) -> list[Request]:
        """Everyone, in order."""
        return [entry[3] for entry in self._entries]

    def add(self, request: Request) -> None:
        """Let a request in."""
        priority = 0.0 if self._key is None else self._key(request)
        request.sort_key = (priority, request.arrival_ns, request.submitted_seq)
        self._entries.add((*request.sort_key, request))
        self.size += 1
        if self._of_tenant is not None:
            self._of_tenant.setdefault(request.tenant, {})[request] = None

    def remove(self, request: Request) -> None:
        """Let a request out."""
        self._entries.remove((*request.sort_key, request))
        self.size -= 1
        if self._of_tenant is not None:
            tenant = self._of_tenant[request.tenant]
            del tenant[request]
            if not tenant:
                del self._of_tenant[request.tenant]

    def rekey(self, tenants: set[str] | None = None) -> None:
        """Ask the key again, of everyone or of the requests of some tenants."""
        filed = self._of_tenant or {}
        if tenants is None:
            requests = self.ordered()
        else:
            requests = [r for t in sorted(tenants) for r in filed.get(t, ())]
        for request in requests:
            self.remove(request)
        for request in requests:
            self.add(request)
