"""Decodes that nothing disturbs advance together, one token each, without being visited.

A member emitted a token at the end of the previous step and gets one in the next. Its `computed`
and `emitted` are then a common tick count away from what is stored, and the steps at which it
needs a block or ends are known in advance. So a step costs what changes in it, not what runs.
Whoever must be treated on its own leaves, which brings its stored numbers up to date.
"""

from collections.abc import Iterable
from heapq import heappop, heappush

from sched_core.request import Request


class Lockstep:
    """The members, filed by the tick at which each needs its next block and by its last one."""

    __slots__ = (
        "_block_size",
        "_last",
        "_last_ticks",
        "context",
        "due_at",
        "emitted_ns",
        "grown_seq",
        "size",
        "tick",
    )  # fmt: skip

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self.tick = 0
        """Steps taken together so far."""
        self.size = 0
        self.context = 0
        """Computed tokens of all members."""
        self.grown_seq = -1
        """Up to here in order of admission, members hold what their next token needs."""
        self.emitted_ns = 0
        """When the last tick ended: every member's last token."""
        # A member needs a block whenever its computed tokens fill one: every `block_size` ticks,
        # so the tick modulo the block size says who is due, for as long as it stays.
        self.due_at: list[dict[Request, None]] = [{} for _ in range(block_size)]
        self._last: dict[int, dict[Request, None]] = {}
        self._last_ticks: list[int] = []
        """Heap of the keys of `_last`, and of some whose members have left."""

    def computed(self, request: Request) -> int:
        """`request.computed`, exact for members too."""
        if request.lockstep_since < 0:
            return request.computed
        return request.computed + self.tick - request.lockstep_since

    def emitted(self, request: Request) -> int:
        """`request.emitted`, exact for members too."""
        if request.lockstep_since < 0:
            return request.emitted
        return request.emitted + self.tick - request.lockstep_since

    def join(self, request: Request) -> None:
        """Take in a request that lacks exactly its next token."""
        tick = self.tick
        request.lockstep_since = tick
        self.size += 1
        self.context += request.computed
        self.due_at[(tick - request.computed) % self._block_size][request] = None
        final = self._final_tick(request)
        if final not in self._last:
            self._last[final] = {}
            heappush(self._last_ticks, final)
        self._last[final][request] = None

    def _final_tick(self, request: Request) -> int:
        """The tick in which a member emits its last token."""
        return request.lockstep_since + request.output_len - request.emitted - 1

    def leave(self, request: Request) -> None:
        """Let a member go, its numbers brought up to date."""
        since = request.lockstep_since
        del self.due_at[(since - request.computed) % self._block_size][request]
        final = self._final_tick(request)
        last = self._last[final]
        del last[request]
        if not last:
            del self._last[final]
        steps = self.tick - since
        request.lockstep_since = -1
        request.computed = computed = request.computed + steps
        request.emitted += steps
        if computed > request.high_water:
            request.high_water = computed
        request.last_token_ns = self.emitted_ns
        self.size -= 1
        self.context -= computed

    def disband(self, members: Iterable[Request]) -> None:
        """Let everyone go."""
        for request in members:
            if request.lockstep_since >= 0:
                self.leave(request)

    def due(self, ahead: int = 0) -> list[Request]:
        """Members whose next token, or the one so many ticks ahead, starts a new block; in running
        order."""
        due = self.due_at[(self.tick + ahead) % self._block_size]
        return sorted(due, key=_running_order) if len(due) > 1 else list(due)

    def num_due(self, ahead: int = 0) -> int:
        """How many will be due, so many ticks ahead."""
        return len(self.due_at[(self.tick + ahead) % self._block_size])

    def ticks_left(self) -> int:
        """Ticks until a member emits its last token, that one included; there must be members."""
        heap, last = self._last_ticks, self._last
        while heap[0] not in last:  # all that were to end then have left
            heappop(heap)
        return heap[0] - self.tick + 1

    def advance(self, end_ns: int, ticks: int = 1) -> list[Request]:
        """`ticks` tokens for everyone, the last of them at `end_ns`, and none beyond a member's
        last; returns the members that are done, still inside."""
        self.tick += ticks
        self.context += ticks * self.size
        self.emitted_ns = end_ns
        self.grown_seq = -1
        done = self._last.get(self.tick - 1)
        return list(done) if done else []


def _running_order(request: Request) -> int:
    return request.admitted_seq
