"""The same bytes in leaps under policies that take places, turn away and wait."""

from typing import ClassVar

import attrs
from harness import everything, requests, servable
from hypothesis import assume, given
from hypothesis import strategies as st
from leaps import Looks, crowd, recorded

from sched_core.config import EngineConfig
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.testing.strategies import configs, workloads
from sched_core.workload.spec import RequestSpec


@attrs.define(eq=False)
class TakesSeats:
    """The least urgent yields to whoever is more urgent."""

    priority_moves = "static"
    admission_moves = "event"
    asked: ClassVar[list[str | None]] = []

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.priority

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        self.asked.append(beneficiary.lacks)
        last = max(view.victims, key=lambda r: (r.priority, r.submission), default=None)
        urgent = last is not None and last.priority > beneficiary.priority
        return last if urgent and not beneficiary.is_running else None


class TakesSeatsInAnotherOrder(TakesSeats):
    """The same with keys of two numbers."""

    @hookimpl
    def effective_priority(self, request: RequestView) -> tuple[float, float]:
        return request.priority, -request.prompt_len


class TakesSeatsAnyTime(TakesSeats):
    """The same, without a word on when its answers change."""

    admission_moves = "time"


@given(
    workloads(),
    configs(),
    st.sampled_from([TakesSeats, TakesSeatsInAnotherOrder, TakesSeatsAnyTime]),
    st.booleans(),
)
def test_seats_that_are_taken(
    specs: list[RequestSpec], config: EngineConfig, policy: type, watched: bool
) -> None:
    specs = crowd(specs)
    assume(servable(specs, config))
    watchers = [Looks()] if watched else []
    stepped, _ = recorded(specs, config, policy, leaps=False, horizon=99.0)
    leapt, _ = recorded(specs, config, policy, leaps=True, horizon=99.0, watchers=watchers)
    assert everything(leapt) == everything(stepped)


def test_a_full_batch_is_not_asked_over_and_over() -> None:
    """Four decode for long, two wait: once per arrival and end, where answers move so."""
    specs = requests("A(8,300,@0,1) B(8,400,@0,1) W(8,9,@0,1) U(8,99,@1,0) X(8,9,@2,1)")
    config = EngineConfig(num_gpu_blocks=200, max_num_seqs=2)
    counts = {}
    for policy in (TakesSeats, TakesSeatsAnyTime):
        stepped, steps = recorded(specs, config, policy, leaps=False, horizon=99.0)
        policy.asked.clear()
        leapt, advances = recorded(specs, config, policy, leaps=True, horizon=99.0)
        assert everything(leapt) == everything(stepped)
        assert leapt.preemptions == 1
        counts[policy] = (len(policy.asked), advances)
    assert counts[TakesSeats][0] < 12
    assert counts[TakesSeats][1] < steps / 10
    assert counts[TakesSeatsAnyTime][0] > steps / 2


@attrs.define(eq=False)
class OpensEvery:
    """Lets requests in at the end of every period only, and says so."""

    priority_moves = "static"
    admission_moves = "event"
    period: ClassVar[float] = 0.37
    _opened: float = attrs.field(init=False, default=0.0)

    @hookimpl
    def can_admit(self, view: SchedulerView) -> bool:
        return not view.running or view.now - self._opened >= self.period

    @hookimpl
    def request_admitted(self, now: float) -> None:
        self._opened = now

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float | None:
        return self._opened + self.period if view.waiting else None


@given(workloads(), configs(), st.booleans(), st.sampled_from((0.05, 3.0, 99.0)))
def test_a_wake_ends_a_leap(
    specs: list[RequestSpec], config: EngineConfig, watched: bool, horizon: float
) -> None:
    specs = crowd(specs)
    assume(servable(specs, config))
    watchers = [Looks()] if watched else []
    stepped, _ = recorded(specs, config, OpensEvery, leaps=False, horizon=horizon)
    leapt, _ = recorded(specs, config, OpensEvery, leaps=True, horizon=horizon, watchers=watchers)
    assert everything(leapt) == everything(stepped)


def test_leaps_go_from_wake_to_wake() -> None:
    specs = requests("A(8,300,@0) B(8,300,@0) C(8,300,@0)")
    config = EngineConfig(num_gpu_blocks=200)
    stepped, steps = recorded(specs, config, OpensEvery, leaps=False, horizon=99.0)
    leapt, advances = recorded(specs, config, OpensEvery, leaps=True, horizon=99.0)
    assert everything(leapt) == everything(stepped)
    assert advances < steps / 10


@attrs.define(eq=False)
class Patience:
    """Turns the head of the queue away when it has waited long enough, and says when."""

    priority_moves = "static"
    admission_moves = "event"
    seconds: ClassVar[float] = 0.3

    @hookimpl
    def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
        return "late" if view.now >= self._deadline(request) else None

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float | None:
        return self._deadline(view.waiting[0]) if view.waiting else None

    def _deadline(self, request: RequestView) -> float:
        return request.arrival + self.seconds


class PatienceAnyTime(Patience):
    """The same, without a word on when its answers change."""

    admission_moves = "time"


@given(
    workloads(), configs(), st.sampled_from([Patience, PatienceAnyTime]), st.booleans(),
    st.sampled_from((0.05, 3.0, 99.0)),
)  # fmt: skip
def test_who_is_turned_away(
    specs: list[RequestSpec], config: EngineConfig, policy: type, watched: bool, horizon: float
) -> None:
    specs = crowd(specs)
    assume(servable(specs, config))
    watchers = [Looks()] if watched else []
    stepped, _ = recorded(specs, config, policy, leaps=False, horizon=horizon)
    leapt, _ = recorded(specs, config, policy, leaps=True, horizon=horizon, watchers=watchers)
    assert everything(leapt) == everything(stepped)


def test_leaps_go_from_deadline_to_deadline() -> None:
    """The batch is full for long, and those behind it are turned away one after the other."""
    specs = requests("A(8,300,@0) B(8,30,@0.1) C(8,30,@0.2) D(8,30,@0.3)")
    config = EngineConfig(num_gpu_blocks=200, max_num_seqs=1)
    stepped, steps = recorded(specs, config, Patience, leaps=False, horizon=99.0)
    leapt, advances = recorded(specs, config, Patience, leaps=True, horizon=99.0)
    assert everything(leapt) == everything(stepped)
    assert list(leapt.reasons) == ["late"]
    assert advances < steps / 10
    anytime, many = recorded(specs, config, PatienceAnyTime, leaps=True, horizon=99.0)
    assert everything(anytime) == everything(stepped)
    assert many > steps / 10


@attrs.define(eq=False)
class Quantum:
    """Whoever has run for a quantum goes to the end of the queue, if anybody waits."""

    priority_moves = "event"
    admission_moves = "event"
    preemption_moves = "event"
    seconds: ClassVar[float] = 0.2
    _since: dict[str, float] = attrs.field(init=False, factory=dict)

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return self._since.get(request.id, 0.0)

    @hookimpl
    def select_preemptions(self, view: SchedulerView) -> list[RequestView]:
        running = view.running if view.waiting else []
        return [request for request in running if view.now >= self._end(request)]

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float | None:
        ends = (self._end(request) for request in view.running)
        return min((end for end in ends if end > view.now), default=None)

    def _end(self, request: RequestView) -> float:
        return self._since[request.id] + self.seconds

    @hookimpl
    def request_admitted(self, request: RequestView, now: float) -> None:
        self._since[request.id] = now

    @hookimpl
    def request_finished(self, request: RequestView) -> None:
        self._since.pop(request.id, None)


class QuantumAnyTime(Quantum):
    """The same, without a word on when its answers change."""

    preemption_moves = "time"


@given(
    workloads(), configs(), st.sampled_from([Quantum, QuantumAnyTime]), st.booleans(),
    st.sampled_from((0.05, 3.0, 99.0)),
)  # fmt: skip
def test_quanta(
    specs: list[RequestSpec], config: EngineConfig, policy: type, watched: bool, horizon: float
) -> None:
    specs = crowd(specs)
    assume(servable(specs, config))
    watchers = [Looks()] if watched else []
    stepped, _ = recorded(specs, config, policy, leaps=False, horizon=horizon)
    leapt, _ = recorded(specs, config, policy, leaps=True, horizon=horizon, watchers=watchers)
    assert everything(leapt) == everything(stepped)


def test_leaps_go_from_quantum_to_quantum() -> None:
    """Two seats, and three requests that take turns in them; D comes into a full batch."""
    specs = requests("A(8,90,@0) B(8,90,@0) C(8,90,@0) D(8,300,@0.9)")
    config = EngineConfig(num_gpu_blocks=200, max_num_seqs=2)
    stepped, steps = recorded(specs, config, Quantum, leaps=False, horizon=99.0)
    leapt, advances = recorded(specs, config, Quantum, leaps=True, horizon=99.0)
    assert everything(leapt) == everything(stepped)
    assert leapt.preemptions > 10
    assert advances < steps / 2
    _, each = recorded(specs, config, QuantumAnyTime, leaps=True, horizon=99.0)
    assert each == steps
