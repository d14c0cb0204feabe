"""The whole contract between scheduler and executor: one StepPlan in, one StepOutcome back."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from sched_core.request import Request


class PreemptMode(Enum):
    """What becomes of a victim's KV cache."""

    RECOMPUTE = "recompute"
    """Freed; the victim computes prompt and emitted tokens again."""
    SWAP = "swap"
    """Copied to the host pool and back; falls back to RECOMPUTE when the pool is full."""


class StepLoad(NamedTuple):
    """What a step holds, in sums: all that a hardware model needs to price it.

    Sums, never count x maximum, so one long request does not make its neighbours expensive.
    """

    decodes: int = 0
    """Requests that compute exactly their one next token."""
    decode_kv_tokens: int = 0
    """Context tokens those decodes attend to, the new token included."""
    prefills: int = 0
    """Requests that compute a prompt chunk, or recompute one."""
    prefill_tokens: int = 0
    """New tokens of all chunks."""
    prefill_kv_tokens: int = 0
    """Context tokens at the end of each chunk, summed."""
    prefill_pairs: int = 0
    """(query, key) pairs under the causal mask of all chunks: n*c + n*(n+1)/2 for n new tokens
    after c computed ones."""
    sampled: int = 0
    """Requests that emit a token at the end of the step."""
    blocks_out: int = 0
    """KV blocks copied from device to host."""
    blocks_in: int = 0
    """KV blocks copied from host to device."""

    @property
    def new_tokens(self) -> int:
        """Tokens computed in this step."""
        return self.decodes + self.prefill_tokens


EMPTY_LOAD = StepLoad()


class ScheduledRequest(NamedTuple):
    """One request's share of a step: compute `num_tokens` positions from `num_computed_tokens`."""

    id: str
    num_tokens: int
    num_computed_tokens: int
    block_table: tuple[int, ...]
    samples: bool
    """Does the step end with an output token of this request?"""


class Swap(NamedTuple):
    """Copy `sources[i]` to `targets[i]`; device block ids on one side, host ids on the other."""

    id: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]


class Preemption(NamedTuple):
    """Who lost its place, for whom, and which component said so ("default" is the engine)."""

    victim: Request
    beneficiary: Request
    mode: PreemptMode
    """What happened, after any fall-back."""
    chosen_by: str
    mode_by: str


class StepPlan(NamedTuple):
    """What one step does. Immutable; the executor needs nothing else.

    Swaps out happen before swaps in, and both before any computation.
    """

    step: int
    time_ns: int
    load: StepLoad
    num_tokens: int
    """Tokens granted; `load` holds more where padding is paid for."""
    order: tuple[Request, ...]
    """Who computes, in the order granted."""
    grants: Mapping[Request, int]
    """Tokens of those in `order` that compute something other than one decode token."""
    admitted: Mapping[Request, int] = {}
    """Requests that joined the batch for the first time -> prefix tokens found in the cache."""
    resumed: tuple[Request, ...] = ()
    """Requests that came back after a preemption."""
    preemptions: tuple[Preemption, ...] = ()
    swapped_out: tuple[Swap, ...] = ()
    swapped_in: tuple[Swap, ...] = ()
    finished: tuple[str, ...] = ()
    """Ids that ended since the last plan: their executor state may go."""
    tick: int = 0
    """Lockstep tick of this step: makes the numbers of lockstep members exact."""

    @property
    def preempted(self) -> tuple[Request, ...]:
        """The victims, in the order in which they were taken."""
        return tuple(preemption.victim for preemption in self.preemptions)

    def scheduled(self) -> Iterator[tuple[Request, int]]:
        """(request, tokens) in the order granted; valid until the outcome is taken in."""
        for request in self.order:
            yield request, self.grants.get(request, 1)

    def requests(self) -> Iterator[ScheduledRequest]:
        """Everyone's share, in the order granted; valid until the outcome is taken in."""
        for request, tokens in self.scheduled():
            ahead = self.tick - request.joined if request.joined >= 0 else 0
            computed = request.computed + ahead
            yield ScheduledRequest(
                request.id,
                tokens,
                computed,
                tuple(request.blocks),
                computed + tokens == request.known + ahead,
            )


class StepOutcome(NamedTuple):
    """What came of a step."""

    duration: float
    """Seconds, finite and > 0; the engine rounds it to nanoseconds once."""
    tokens: Mapping[str, int] | None = None
    """Sampled token per request id, where a real model ran."""
