"""What the engine shows of itself to hooks: the views of `sched_core.policy.views`.

Attributes that start with an underscore are not part of the contract.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from sched_core.execution.load import StepLoad, decode_load
from sched_core.limits import NANOSECONDS
from sched_core.policy.views import RequestView
from sched_core.request import Request, RequestState
from sched_core.scheduler import offer
from sched_core.scheduler.batching import lacks_prefill
from sched_core.workload.spec import Cell

if TYPE_CHECKING:
    import numpy as np

    from sched_core.execution.executor import Costs
    from sched_core.scheduler.plan_builder import PlanBuilder
    from sched_core.scheduler.state import SchedulerState


def _reads(path: str) -> Any:
    """A property that reads `path` at C speed."""
    return property(attrgetter(path))


def _asked(field: str) -> Any:
    """A property that reads what the client asked for."""
    return _reads(f"_request.spec.{field}")


class EngineRequestView:
    """A `RequestView` of the engine."""

    __slots__ = ("_request", "_state")

    def __init__(self, request: Request, state: "SchedulerState") -> None:
        self._request = request
        self._state = state

    def __repr__(self) -> str:
        return f"<request {self.id}, {self.state.value}>"

    id: str = _reads("_request.id")
    tenant: str = _reads("_request.tenant")
    priority: int = _asked("priority")
    prompt_len: int = _reads("_request.prompt_len")
    submission: int = _reads("_request.submitted_seq")
    state: RequestState = _reads("_request.state")
    num_preemptions: int = _reads("_request.preemptions")
    ttft_slo: float | None = _asked("ttft_slo")
    tpot_slo: float | None = _asked("tpot_slo")
    e2el_slo: float | None = _asked("e2el_slo")
    deadline: float | None = _asked("deadline")
    weight: float = _asked("weight")
    session: str | None = _asked("session")
    turn: int = _asked("turn")
    think_time: float | None = _asked("think_time")

    @property
    def extra(self) -> Mapping[str, Cell]:
        return MappingProxyType(self._request.spec.extra or {})

    @property
    def arrival(self) -> float:
        return self._request.arrival_ns / NANOSECONDS

    @property
    def num_computed_tokens(self) -> int:
        return self._state.lockstep.computed(self._request)

    @property
    def num_output_tokens(self) -> int:
        return self._state.lockstep.emitted(self._request)

    @property
    def num_tokens(self) -> int:
        return self._request.prompt_len + self._state.lockstep.emitted(self._request)

    @property
    def num_blocks(self) -> int:
        return self._state.num_blocks(self._request)

    @property
    def is_running(self) -> bool:
        return self._request.state is RequestState.RUNNING

    @property
    def is_prefill(self) -> bool:
        request = self._request
        return request.lockstep_since < 0 and lacks_prefill(request)

    @property
    def lacks(self) -> Literal["blocks", "seat"] | None:
        request, state = self._request, self._state
        if request is not state.beneficiary:
            return None
        seated = request.state is RequestState.RUNNING or offer.has_seat(state)
        return "blocks" if seated else "seat"

    @property
    def predicted_output(self) -> float | None:
        return self._state.policy.predict_output(self)


def request_of(view: RequestView) -> Request:
    """Whose view it is; the policy has checked that it is one of the engine's."""
    assert isinstance(view, EngineRequestView)
    return view._request


def requests_of(views: Iterable[RequestView] | None) -> list[Request] | None:
    """The same for many; None for None."""
    return None if views is None else [request_of(view) for view in views]


class EngineWaitingView(Sequence[RequestView]):
    """The waiting queue; may be iterated while requests leave it."""

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
        return isinstance(request, EngineRequestView) and request._request in self._state.waiting


class EngineRunningView(Sequence[RequestView]):
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


class EngineView:
    """A `SchedulerView` of the engine, the step under construction included."""

    __slots__ = ("_builder", "_state", "running", "waiting")

    def __init__(self, state: "SchedulerState", builder: "PlanBuilder") -> None:
        object.__setattr__(self, "_state", state)
        object.__setattr__(self, "_builder", builder)
        object.__setattr__(self, "waiting", EngineWaitingView(state))
        object.__setattr__(self, "running", EngineRunningView(state))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a view is read-only: cannot set {name!r}")

    _state: "SchedulerState"
    _builder: "PlanBuilder"
    waiting: EngineWaitingView
    running: EngineRunningView
    step: int = _reads("_state.step")
    budget_left: int = _reads("_builder.budget_left")
    granted_tokens: int = _reads("_builder.granted")
    free_blocks: int = _reads("_state.kv.free_blocks")
    total_blocks: int = _reads("_state.kv.num_blocks")
    free_host_blocks: int = _reads("_state.kv.free_host_blocks")
    block_size: int = _reads("_state.config.block_size")
    costs: "Costs" = _reads("_state.costs")
    rng: "np.random.Generator" = _reads("_state.rng")

    @property
    def now(self) -> float:
        return self._state.now_ns / NANOSECONDS

    @property
    def seats_left(self) -> int:
        return self._state.seats - len(self._state.running)

    @property
    def victims(self) -> list[RequestView]:
        state, builder = self._state, self._builder
        return [r.view for r in state.running if may_be_preempted(state, builder, r)]

    @property
    def load(self) -> StepLoad:
        lockstep = self._state.lockstep
        lone = [r.computed for r in self._state.alone if not lacks_prefill(r)]
        return decode_load(lockstep.size + len(lone), lockstep.context + sum(lone))

    def fits(self, request: RequestView) -> bool:
        return offer.fits(self._state, self._builder, request_of(request))

    def blocks_needed(self, request: RequestView) -> int:
        found, kv = request_of(request), self._state.kv
        if found.state is RequestState.RUNNING:
            return max(0, kv.blocks_for(request.num_tokens) - request.num_blocks)
        return kv.blocks_taken(found.known, kv.hits(found))

    def freed_by(self, request: RequestView) -> int:
        kv, found = self._state.kv, request_of(request)
        return self._state.num_blocks(found) if kv.by_count else kv.freed_by(found)

    def cached_prefix(self, request: RequestView) -> int:
        return self._state.kv.cached_prefix(request_of(request))


def may_be_preempted(state: "SchedulerState", builder: "PlanBuilder", request: Request) -> bool:
    """Is it running, did not join in this very step, and computes nothing now that another
    request already counts on as a prefix hit?"""
    return (
        request.state is RequestState.RUNNING
        and request not in builder.joined
        and not (request.lockstep_since < 0 and state.kv.is_relied_on(request))
    )


class EngineHost:
    """The `Host` of a policy that serves the engine."""

    def __init__(self, state: "SchedulerState", builder: "PlanBuilder") -> None:
        self.state = state
        self.builder = builder

    @property
    def step(self) -> int:
        return self.state.step

    @property
    def now(self) -> float:
        return self.state.now_ns / NANOSECONDS

    def owns(self, request: object) -> bool:
        return isinstance(request, EngineRequestView) and request._state is self.state

    def all_running(self, requests: list[RequestView]) -> bool:
        try:
            distinct = set(requests)
        except TypeError:  # something that is no view at all
            return False
        return len(distinct) == len(requests) and distinct <= self.state.running_views

    def may_be_preempted(self, request: RequestView) -> bool:
        return may_be_preempted(self.state, self.builder, request_of(request))

    def true_output_len(self, request: RequestView) -> int:
        return request_of(request).output_len
