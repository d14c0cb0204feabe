"""Decodes that nothing disturbs advance together, one token each, without being visited.

A member emitted a token at the end of the previous step and gets one in the next. Its `computed`
and `emitted` are then a common tick count away from what is stored, and the steps at which it
needs a block or ends are known in advance. So a step costs what changes in it, not what runs.
Whoever must be treated on its own leaves, which brings its stored numbers up to date.
"""

from collections import defaultdict
from collections.abc import Iterable

from sched_core.request import Request


class Lockstep:
    """The members, filed by the tick at which each needs its next block and by its last one."""

    __slots__ = ("_block_size", "_due", "_last", "context", "emitted_ns", "size", "tick")

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self.tick = 0
        """Steps taken together so far."""
        self.size = 0
        self.context = 0
        """Computed tokens of all members."""
        self.emitted_ns = 0
        """When the last tick ended: every member's last token."""
        self._due: list[dict[Request, None]] = [{} for _ in range(block_size)]
        self._last: defaultdict[int, dict[Request, None]] = defaultdict(dict)

    def computed(self, request: Request) -> int:
        """`request.computed`, exact for members too."""
        if request.joined < 0:
            return request.computed
        return request.computed + self.tick - request.joined

    def emitted(self, request: Request) -> int:
        """`request.emitted`, exact for members too."""
        if request.joined < 0:
            return request.emitted
        return request.emitted + self.tick - request.joined

    def join(self, request: Request) -> None:
        """Take in a request that lacks exactly its next token."""
        tick = self.tick
        request.joined = tick
        self.size += 1
        self.context += request.computed
        self._due[(tick - request.computed) % self._block_size][request] = None
        self._last[self._final_tick(request)][request] = None

    def _final_tick(self, request: Request) -> int:
        return request.joined + request.output_len - request.emitted - 1

    def leave(self, request: Request) -> None:
        """Let a member go, its numbers brought up to date."""
        del self._due[(request.joined - request.computed) % self._block_size][request]
        final = self._final_tick(request)
        del self._last[final][request]
        if not self._last[final]:
            del self._last[final]
        self._bring_up_to_date(request)
        self.size -= 1
        self.context -= request.computed

    def _bring_up_to_date(self, request: Request) -> None:
        steps = self.tick - request.joined
        request.joined = -1
        request.computed += steps
        request.emitted += steps
        request.high_water = max(request.high_water, request.computed)
        request.last_token_ns = self.emitted_ns

    def disband(self, members: Iterable[Request]) -> None:
        """Let everyone go."""
        for request in members:
            if request.joined >= 0:
                self.leave(request)

    def due(self) -> list[Request]:
        """Members whose next token starts a new block, in running order."""
        due = self._due[self.tick % self._block_size]
        return sorted(due, key=_running_order) if len(due) > 1 else list(due)

    def num_due(self) -> int:
        """How many `due` are there."""
        return len(self._due[self.tick % self._block_size])

    def ends_now(self) -> bool:
        """Does a member emit its last token in the next tick?"""
        return self.tick in self._last

    def advance(self, end_ns: int) -> list[Request]:
        """One token for everyone at `end_ns`; returns the members that are done, still inside."""
        done = self._last.get(self.tick)
        self.tick += 1
        self.context += self.size
        self.emitted_ns = end_ns
        return list(done) if done else []


def _running_order(request: Request) -> int:
    return request.admitted_seq
