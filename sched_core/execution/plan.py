"""The contract between scheduler and executor: one StepPlan in, one StepOutcome back.

A plan is plain data: ids, counts and block ids. It can be kept, pickled, written and compared.
"""

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from sched_core.execution.load import StepLoad
from sched_core.workload.spec import HashedPrefix, SharedPrefix

NOBODY = "default"
"""In the place of a component that decided: the engine's own rule."""


class PreemptMode(Enum):
    """What becomes of a victim's KV cache."""

    RECOMPUTE = "recompute"
    """Freed; the victim computes prompt and emitted tokens again."""
    SWAP = "swap"
    """Copied to the host pool and back; falls back to RECOMPUTE when the pool is full."""


class ScheduledRequest(NamedTuple):
    """One request's share of a step: compute `num_tokens` positions from `num_computed_tokens`."""

    id: str
    num_tokens: int
    num_computed_tokens: int
    block_ids: tuple[int, ...]
    samples: bool
    """Does the step end with an output token of this request?"""


class NewRequest(NamedTuple):
    """A request that joins the batch for the first time: what an executor has to know of it."""

    id: str
    prompt_len: int
    prefix: SharedPrefix | HashedPrefix | None
    num_computed_tokens: int
    """Prefix tokens that were found in the cache."""


class Swap(NamedTuple):
    """Copy `sources[i]` to `targets[i]`; device block ids on one side, host ids on the other."""

    id: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]


class Preemption(NamedTuple):
    """Who lost its place, for whom, and which component said so ("default" is the engine)."""

    victim: str
    beneficiary: str | None
    """None where a policy took the victim out for nobody in particular."""
    mode: PreemptMode
    """What happened, after any fall-back."""
    chosen_by: str
    mode_by: str


class StepPlan(NamedTuple):
    """What one step does; the executor needs nothing else. Names are vLLM's where it has one.

    Swaps out happen before swaps in, and both before any computation.
    """

    step: int
    time_ns: int
    load: StepLoad
    total_num_scheduled_tokens: int
    """Tokens granted; `load` holds more where padding is paid for."""
    scheduled: tuple[ScheduledRequest, ...]
    """Who computes, in the order granted."""
    scheduled_new_reqs: tuple[NewRequest, ...] = ()
    """Of them, those that joined the batch for the first time."""
    resumed_req_ids: tuple[str, ...] = ()
    """Of them, those that came back after a preemption."""
    preemptions: tuple[Preemption, ...] = ()
    swapped_out: tuple[Swap, ...] = ()
    swapped_in: tuple[Swap, ...] = ()
    finished_req_ids: tuple[str, ...] = ()
    """Who ended since the last plan: their executor state may go."""
    admitted_by: str = NOBODY
    """The component that chose who joins; "default" where nobody does."""

    @property
    def num_scheduled_tokens(self) -> dict[str, int]:
        """Tokens by request id, in the order granted."""
        return {share.id: share.num_tokens for share in self.scheduled}

    @property
    def preempted_req_ids(self) -> tuple[str, ...]:
        """The victims, in the order in which they were taken."""
        return tuple(preemption.victim for preemption in self.preemptions)

    @property
    def admitted(self) -> dict[str, int]:
        """Prefix tokens found in the cache, by id of those that joined for the first time."""
        return {new.id: new.num_computed_tokens for new in self.scheduled_new_reqs}


class StepOutcome(NamedTuple):
    """What came of a step."""

    duration: float
    """Seconds, finite and > 0; the engine rounds it to nanoseconds once."""
    tokens: Mapping[str, int] | None = None
    """Sampled token per request id, where a real model ran."""
