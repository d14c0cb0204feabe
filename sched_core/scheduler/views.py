"""What a hook may see: read-only, the present only.

No true output length, no future arrival, no wall clock can be reached through a view's public
names; attributes that start with an underscore are not part of the contract.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sched_core.limits import NANOSECONDS
from sched_core.request import Request, RequestState

if TYPE_CHECKING:
    import numpy as np

    from sched_core.execution.executor import Costs
    from sched_core.execution.plan import StepLoad
    from sched_core.scheduler.state import SchedulerState


def _reads(path: str, doc: str) -> Any:
    """A property that reads `path` at C speed."""
    return property(attrgetter(path), doc=doc)


class RequestView:
    """A request as a policy sees it. One object per request and run, so `is` and `in` work."""

    __slots__ = ("_request", "_state")

    def __init__(self, request: Request, state: "SchedulerState") -> None:
        self._request = request
        self._state = state

    def __repr__(self) -> str:
        return f"<request {self.id}, {self.state.value}>"

    id: str = _reads("_request.id", "Name in the workload.")
    tenant: str = _reads("_request.tenant", "Whose request it is.")
    priority: int = _reads("_request.priority", "As given by the client; smaller is more urgent.")
    prompt_len: int = _reads("_request.prompt_len", "Prompt tokens.")
    submission: int = _reads("_request.submitted_seq", "Position in the workload, for ties.")
    state: RequestState = _reads("_request.state", "Where it is.")
    num_preemptions: int = _reads("_request.preemptions", "How often it lost its place.")

    @property
    def arrival(self) -> float:
        """Arrival, in seconds."""
        return self._request.arrival_ns / NANOSECONDS

    @property
    def num_computed_tokens(self) -> int:
        """Positions whose K and V are in memory; 0 after a preemption by recompute."""
        return self._state.lockstep.computed(self._request)

    @property
    def num_output_tokens(self) -> int:
        """Output tokens emitted so far; kept over preemptions."""
        return self._state.lockstep.emitted(self._request)

    @property
    def num_tokens(self) -> int:
        """Known tokens: prompt + emitted."""
        return self._request.prompt_len + self.num_output_tokens

    @property
    def num_blocks(self) -> int:
        """Device blocks that it holds, shared ones included."""
        return len(self._request.blocks)

    @property
    def is_running(self) -> bool:
        """Is it in the batch?"""
        return self._request.state is RequestState.RUNNING

    @property
    def is_prefill(self) -> bool:
        """Has it known tokens left to compute beyond one new decode token?"""
        request = self._request
        return request.joined < 0 and (
            request.emitted == 0 or request.prompt_len + request.emitted - request.computed > 1
        )

    @property
    def predicted_output(self) -> float | None:
        """Output tokens in all, as the stack's `predict_output` says; None without a predictor."""
        return self._state.policy.predict_output(self)


class WaitingView(Sequence[RequestView]):
    """The waiting queue in order of effective priority, as of the last scan, read lazily.

    Keys that move are asked again when admission begins to scan the queue, which a step without
    budget or seats left does not do; before that the order is that of an earlier step.

    It may be iterated while requests leave it: the next one is always the one behind the last.
    """

    __slots__ = ("_state",)

    def __init__(self, state: "SchedulerState") -> None:
        self._state = state

    def __len__(self) -> int:
        return len(self._state.waiting)

    def __getitem__(self, index: Any) -> Any:
        found = self._state.waiting.ordered()[index]
        return [request.view for request in found] if isinstance(index, slice) else found.view

    def __iter__(self) -> Iterator[RequestView]:
        return (request.view for request in self._state.waiting)

    def __contains__(self, request: object) -> bool:
        return isinstance(request, RequestView) and request._request in self._state.waiting


class RunningView(Sequence[RequestView]):
    """The running requests, in order of admission."""

    __slots__ = ("_state",)

    def __init__(self, state: "SchedulerState") -> None:
        self._state = state

    def __len__(self) -> int:
        return len(self._state.running)

    def __getitem__(self, index: Any) -> Any:
        found = self._state.running[index]
        return [request.view for request in found] if isinstance(index, slice) else found.view

    def __iter__(self) -> Iterator[RequestView]:
        return iter([request.view for request in self._state.running])


class SchedulerView:
    """The engine as a policy sees it during one step."""

    __slots__ = ("_state", "running", "waiting")

    def __init__(self, state: "SchedulerState") -> None:
        object.__setattr__(self, "_state", state)
        object.__setattr__(self, "waiting", WaitingView(state))
        object.__setattr__(self, "running", RunningView(state))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a view is read-only: cannot set {name!r}")

    _state: "SchedulerState"
    waiting: WaitingView
    running: RunningView
    step: int = _reads("_state.step", "Number of this step, from 0; idle gaps are not steps.")
    budget_left: int = _reads("_state.budget_left", "Tokens that this step may still grant.")
    granted_tokens: int = _reads("_state.granted", "Tokens granted in this step so far.")
    free_blocks: int = _reads("_state.kv.free_blocks", "Device blocks that can be taken now.")
    total_blocks: int = _reads("_state.kv.num_blocks", "Device blocks in the pool.")
    free_host_blocks: int = _reads("_state.kv.free_host_blocks", "Host blocks free for swaps.")
    block_size: int = _reads("_state.config.block_size", "Tokens in a block.")
    costs: "Costs" = _reads("_state.costs", "The hardware model's word on marginal costs, in s.")
    rng: "np.random.Generator" = _reads("_state.rng", "Seeded for this run: the only randomness.")

    @property
    def now(self) -> float:
        """The step's start, in seconds."""
        return self._state.now_ns / NANOSECONDS

    @property
    def seats_left(self) -> int:
        """Requests that may still join the batch (max_num_seqs - running)."""
        return self._state.seats - len(self._state.running)

    @property
    def victims(self) -> list[RequestView]:
        """The running requests that `select_victim` may name: all but those that joined in this
        very step, or compute a block in it that another request has hit."""
        state = self._state
        return [r.view for r in state.running if state.may_be_preempted(r)]

    @property
    def load(self) -> "StepLoad":
        """What the running requests put into a step that holds their decodes only."""
        return self._state.decode_load()

    def fits(self, request: RequestView) -> bool:
        """Would `request` be admitted if it were yielded now, without taking anyone's place?

        Asks `can_admit`, `chunk_size` and `reserve_blocks`. A `select_victim` that makes room for
        waiting requests may admit it all the same.
        """
        return self._state.fits(request._request)

    def blocks_needed(self, request: RequestView) -> int:
        """Free blocks that the request's known sequence takes beyond what it holds or shares."""
        return self._state.blocks_needed(request._request)

    def freed_by(self, request: RequestView) -> int:
        """Blocks that would become free if `request` were preempted: its unshared ones."""
        return self._state.kv.freed_by(request._request)

    def cached_prefix(self, request: RequestView) -> int:
        """Tokens that a prefix-cache hit would save `request` now."""
        return self._state.kv.cached_prefix(request._request)
