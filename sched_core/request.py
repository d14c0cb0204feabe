"""A request: what a client asked for, and how far the engine has got with it."""

from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs

from sched_core.errors import InputError
from sched_core.limits import (
    COUNTS,
    MAX_SECONDS,
    PRIORITIES,
    SECONDS,
    TOKENS,
    Numbers,
    refuse,
)

if TYPE_CHECKING:
    from sched_core.view import RequestView

NANOSECONDS = 1_000_000_000
"""Engine ticks in one second: the clock is an integer."""


def _group(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not (isinstance(value, str) or type(value) is int):
        refuse(value, field.name, "a name or an integer")


@attrs.frozen(slots=True)
class SharedPrefix:
    """The first `len` prompt tokens equal those of every other request of the same `group`."""

    group: int | str = attrs.field(validator=_group)
    len: int = attrs.field(validator=TOKENS)


def _ids(_: Any, field: "attrs.Attribute[Any]", value: object) -> None:
    if not (isinstance(value, tuple) and all(type(item) is int for item in value)):
        refuse(value, field.name, "a tuple of integers")


@attrs.frozen(slots=True)
class HashedPrefix:
    """Mooncake's description of a prompt: one id per block of `block_size` tokens.

    Ids are chained: the same id means the same block after the same prefix.
    """

    ids: tuple[int, ...] = attrs.field(validator=_ids)
    block_size: int = attrs.field(validator=COUNTS)

    def refuse_misfit(self, prompt_len: int, where: str) -> None:
        """Raises InputError unless there is one id per block of so many tokens."""
        blocks = -(-prompt_len // self.block_size)
        if len(self.ids) != blocks:
            raise InputError(
                f"{len(self.ids)} ids",
                file=where,
                field="hash_ids",
                expected=f"{blocks}: prompt_len {prompt_len} in blocks of {self.block_size} tokens",
            )


@attrs.frozen(slots=True)
class RequestSpec:
    """One row of a workload. Lengths in tokens, `arrival` in seconds from the start of the run.

    `output_len` is what the simulated model will produce; no policy sees it. `priority` is
    vLLM's: smaller is served first.
    """

    id: str
    arrival: float
    prompt_len: int
    output_len: int
    priority: int = 0
    tenant: str = "default"
    prefix: SharedPrefix | HashedPrefix | None = None
    abort: float | None = None
    """When the client gives up, in seconds from the start of the run; None is never."""

    def __attrs_post_init__(self) -> None:
        # Nearly all are plain, and there may be a million: validators would double the cost.
        # Integers or-ed stay below 2**31 where each of them does, and none is negative.
        try:
            bits = self.prompt_len | self.output_len | self.priority
            if (
                type(bits) is int
                and bits >> 31 == 0
                and 0.0 <= self.arrival <= MAX_SECONDS
                and type(self.id) is type(self.tenant) is str
                and self.abort is None
                and (self.prefix is None or type(self.prefix) is SharedPrefix)
            ):
                return
        except TypeError:
            pass
        _check(self)


_RANGES: dict[str, Numbers] = {
    "arrival": SECONDS,
    "prompt_len": TOKENS,
    "output_len": TOKENS,
    "priority": PRIORITIES,
}


def _check(spec: RequestSpec) -> None:
    """Raises InputError with the first field that does not fit."""
    where = f"request {spec.id!r}"
    for name in ("id", "tenant"):
        if not isinstance(getattr(spec, name), str):
            refuse(getattr(spec, name), name, "a text", file=where)
    for name, limit in _RANGES.items():
        limit.require(getattr(spec, name), name, file=where)
    if spec.abort is not None:
        SECONDS.require(spec.abort, "abort", file=where)
    if isinstance(spec.prefix, HashedPrefix):
        spec.prefix.refuse_misfit(spec.prompt_len, where)
    elif not isinstance(spec.prefix, SharedPrefix | None):
        refuse(spec.prefix, "prefix", "a SharedPrefix or a HashedPrefix", file=where)


class RequestState(Enum):
    """Where a request is. After a preemption it is WAITING, or SWAPPED: its KV on the host."""

    PENDING = "pending"
    WAITING = "waiting"
    RUNNING = "running"
    SWAPPED = "swapped"
    FINISHED = "finished"
    REJECTED = "rejected"
    ABORTED = "aborted"


ENDED = frozenset((RequestState.FINISHED, RequestState.REJECTED, RequestState.ABORTED))
"""States that a request does not leave."""


class PreemptMode(Enum):
    """What becomes of a victim's KV cache."""

    RECOMPUTE = "recompute"
    """Freed; the victim computes prompt and emitted tokens again."""
    SWAP = "swap"
    """Copied to the host pool and back; falls back to RECOMPUTE when the pool is full."""


class Request:
    """The engine's own record of one request. Plugins see it through `RequestView` only.

    `computed` and `emitted` are exact only outside lockstep; `sched_core.lockstep` says how
    members of it are brought up to date.
    """

    __slots__ = (
        "abort_ns",
        "admitted_seq",
        "arrival_ns",
        "blocks",
        "cached_tokens",
        "computed",
        "emitted",
        "finish_ns",
        "first_scheduled_ns",
        "first_token_ns",
        "high_water",
        "host_blocks",
        "id",
        "joined",
        "last_token_ns",
        "output_len",
        "preempted_ns",
        "preempted_since_ns",
        "preempted_step",
        "preemptions",
        "prefix",
        "priority",
        "prompt_len",
        "reason",
        "recomputed_tokens",
        "registered",
        "sort_key",
        "state",
        "submitted_seq",
        "tenant",
        "view",
    )

    view: "RequestView"

    def __init__(self, spec: RequestSpec, submitted_seq: int, arrival_ns: int) -> None:
        self.id = spec.id
        self.arrival_ns = arrival_ns
        self.prompt_len = spec.prompt_len
        self.output_len = spec.output_len
        self.priority = spec.priority
        self.tenant = spec.tenant
        self.prefix = spec.prefix
        self.abort_ns = None if spec.abort is None else round(spec.abort * NANOSECONDS)
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
        self.joined = -1
        """Lockstep tick at which `computed` and `emitted` were exact; -1 outside lockstep."""
        self.blocks: list[int] = []
        self.registered = 0
        """Leading blocks whose content the prefix cache knows."""
        self.host_blocks: list[int] = []
        self.admitted_seq = -1
        """Grows with every admission: running order unless a policy says otherwise."""
        self.sort_key: tuple[float, int, int] = (0.0, arrival_ns, submitted_seq)
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
        again = max(0, min(self.computed + tokens, self.high_water) - self.computed)
        self.computed += tokens
        self.recomputed_tokens += again
        self.high_water = max(self.high_water, self.computed)
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
