"""A request in the engine: how far it has got."""

from enum import Enum
from typing import Any

from sched_core.workload.spec import HashedPrefix, RequestSpec


class RequestState(Enum):
    """Where a request is. After a preemption it is WAITING, or SWAPPED: its KV on the host."""

    PENDING = "pending"
    WAITING = "waiting"
    RUNNING = "running"
    SWAPPED = "swapped"
    FINISHED = "finished"
    REJECTED = "rejected"
    ABORTED = "aborted"


Key = float | tuple[float, ...]
"""What `effective_priority` says of a request; of one kind and length for all of a run."""

WAITING_STATES = (RequestState.WAITING, RequestState.SWAPPED)

ENDED = frozenset((RequestState.FINISHED, RequestState.REJECTED, RequestState.ABORTED))
"""States that a request does not leave."""


class Request:
    """The engine's own record of one request. Plugins see it through `RequestView` only.

    `computed` and `emitted` are exact outside lockstep only; `sched_core.scheduler.lockstep` says
    how members of it are brought up to date.
    """

    __slots__ = (
        "admitted_seq",
        "answer",
        "arrival_ns",
        "blocks",
        "cached_tokens",
        "computed",
        "emitted",
        "finish_ns",
        "first_scheduled_ns",
        "first_token_ns",
        "high_water",
        "hits",
        "hits_version",
        "host_blocks",
        "id",
        "last_token_ns",
        "lockstep_since",
        "output_len",
        "preempted_ns",
        "preempted_since_ns",
        "preempted_step",
        "preemptions",
        "prefix",
        "prompt_len",
        "reason",
        "recomputed_tokens",
        "registered",
        "sort_key",
        "spec",
        "state",
        "stream",
        "submitted_seq",
        "tenant",
        "view",
    )

    view: Any
    """What hooks see of it: a `RequestView`."""

    def __init__(self, spec: RequestSpec, submitted_seq: int, arrival_ns: int) -> None:
        self.spec = spec
        """What was asked for; the fields that every step reads are copied from it."""
        self.id = spec.id
        self.arrival_ns = arrival_ns
        self.prompt_len = spec.prompt_len
        self.output_len = spec.output_len
        self.tenant = spec.tenant
        self.prefix = spec.prefix
        self.stream: tuple[str, int] | None = None
        """Requests of one stream hold the same tokens at the same positions: turns of a session."""
        self.answer: HashedPrefix | None = None
        """What names the tokens behind its prompt, where the next turn says so."""
        self.submitted_seq = submitted_seq
        """Position in the workload: the last tie-breaker."""
        self.state = RequestState.PENDING
        self.reason: str | None = None
        self.computed = 0
        """Positions whose K and V are in memory."""
        self.emitted = 0
        """Output tokens produced so far; kept over a preemption."""
        self.high_water = 0
        """Highest position ever computed: work below it is recomputation."""
        self.lockstep_since = -1
        """Tick at which `computed` and `emitted` were exact; -1 outside lockstep."""
        self.blocks: list[int] = []
        self.registered = 0
        """Leading blocks whose content the prefix cache knows."""
        self.host_blocks: list[int] = []
        self.hits: list[int] = []
        self.hits_version = -1
        """State of the prefix cache in which `hits` were looked up; -1: never."""
        self.admitted_seq = -1
        """Grows with every admission: running order unless a policy says otherwise."""
        self.sort_key: tuple[Key, int, int] = (0.0, arrival_ns, submitted_seq)
        self.first_scheduled_ns: int | None = None
        self.first_token_ns: int | None = None
        self.last_token_ns: int | None = None
        self.finish_ns: int | None = None
        self.preempted_ns = 0
        self.preempted_since_ns: int | None = None
        self.preempted_step = -1
        self.preemptions = 0
        self.recomputed_tokens = 0
        self.cached_tokens = 0
        """Positions that came from the prefix cache and were never computed before."""

    def __repr__(self) -> str:
        return f"<Request {self.id} {self.state.value}>"

    def start_at(self, position: int) -> None:
        """Begin, or begin again, behind `position` tokens that the prefix cache holds."""
        self.computed = position
        self.cached_tokens += max(0, position - self.high_water)
        self.high_water = max(self.high_water, position)

    def compute(self, tokens: int) -> int:
        """Move on by `tokens` positions; how many of them had been computed before?"""
        start, high = self.computed, self.high_water
        self.computed = end = start + tokens
        if start == high:  # nothing was lost
            self.high_water = end
            return 0
        again = max(0, min(end, high) - start)
        self.recomputed_tokens += again
        self.high_water = max(high, end)
        return again

    def end_wait(self, now_ns: int) -> None:
        """Add up the time since a preemption, if it is still out."""
        if self.preempted_since_ns is not None:
            self.preempted_ns += now_ns - self.preempted_since_ns
            self.preempted_since_ns = None

    @property
    def known(self) -> int:
        """Tokens whose values are known: prompt + emitted. Exact outside lockstep."""
        return self.prompt_len + self.emitted
