"""Many steps at once give the same bytes as step by step."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import attrs
import pytest
from harness import aborting, everything, requests, servable
from hypothesis import assume, given
from hypothesis import strategies as st

from hwmodels.roofline.gpus import A100
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.metrics.recorder import Recorder
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.stack import Policy
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.testing.strategies import configs, workloads
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

EXECUTOR = A100().executor("llama-3-8b", block_size=16)


def recorded(
    specs: list[RequestSpec],
    config: EngineConfig,
    policy: str | Callable[[], object],
    *,
    leaps: bool,
    horizon: float,
    watchers: Sequence[Watcher] = (),
) -> tuple[Recorder, int]:
    engine = Engine(
        config,
        Policy.from_spec(policy) if isinstance(policy, str) else Policy([("it", policy())]),
        EXECUTOR,
        Workload(specs),
        horizon=horizon,
        watchers=watchers,
        leaps=leaps,
    )
    advances = 1
    while engine.advance():
        advances += 1
    engine.close()
    return engine.recorder, advances


class Looks(Watcher):
    """Does nothing else."""

    def stepped(self, record: StepRecord) -> None:
        assert record.repeats > 0


POLICIES = (
    "fcfs",
    "cost-aware",
    "largest-kv+swap",
    "priority+swap",
    "skip-ahead+chunk:size=7",
    "priority-aging",
    "sjf",
    "vtc",
)


@given(workloads(), configs(), st.sampled_from(POLICIES), st.sampled_from((0.05, 3.0, 99.0)))
def test_the_same_bytes(
    specs: list[RequestSpec], config: EngineConfig, policy: str, horizon: float
) -> None:
    assume(servable(specs, config))
    stepped, _ = recorded(specs, config, policy, leaps=False, horizon=horizon)
    leapt, _ = recorded(specs, config, policy, leaps=True, horizon=horizon)
    watched, _ = recorded(
        specs, config, policy, leaps=True, horizon=horizon, watchers=[Looks(), Looks()]
    )
    assert everything(leapt) == everything(watched) == everything(stepped)


@pytest.mark.parametrize(
    ("policy", "fewer"), [("fcfs", True), ("vtc", True), ("vtc+fill-tile", True)]
)
def test_leaps_are_taken_where_no_hook_wants_every_step(policy: str, fewer: bool) -> None:
    specs = requests("A(20,90,@0) B(20,50,@0) C(20,200,@1)")
    config = EngineConfig(num_gpu_blocks=200)
    stepped, steps = recorded(specs, config, policy, leaps=False, horizon=99.0)
    leapt, advances = recorded(specs, config, policy, leaps=True, horizon=99.0)
    assert everything(leapt) == everything(stepped)
    assert (advances < steps / 5) == fewer


PAST_WAITING = (
    "fcfs",
    "priority",
    "fcfs+recompute",
    "priority+swap",
    "fcfs+chunk:size=7",
    "priority+skip-ahead",
    "fcfs+skip-ahead:max_bypasses=1+swap",
    "fcfs+largest-kv",
    "priority+lowest-priority+swap",
)
"""Stacks with static keys, by all hooks that are asked about a waiting request."""


@pytest.mark.parametrize("policy", [*PAST_WAITING, "vtc", "fill-tile"])
@pytest.mark.parametrize("watchers", [(), (Looks(),)], ids=["alone", "watched"])
def test_leaps_go_past_who_waits(policy: str, watchers: Sequence[Watcher]) -> None:
    """LARGE waits for blocks that the two others hold, and in the end B does, evicted for A."""
    specs = requests("A(40,200,@0) B(40,200,@0) LARGE(400,5,@0)")
    config = EngineConfig(num_gpu_blocks=28, num_cpu_blocks=40)
    stepped, steps = recorded(specs, config, policy, leaps=False, horizon=99.0)
    leapt, advances = recorded(specs, config, policy, leaps=True, horizon=99.0, watchers=watchers)
    assert everything(leapt) == everything(stepped)
    assert stepped.waiting_ns > stepped.busy_ns / 2
    assert stepped.preemptions
    declared = Policy.from_spec(policy).declares.may_leap_past_waiting
    assert (advances < steps / 2) == declared


@pytest.mark.parametrize(
    ("policy", "past"),
    [
        ("fcfs", True),
        ("priority+swap", True),
        ("priority-aging", True),
        ("vtc", False),
        ("fill-tile", False),
    ],
)
def test_who_lets_leaps_go_past_those_who_wait(policy: str, past: bool) -> None:
    assert Policy.from_spec(policy).declares.may_leap_past_waiting == past


class Objects:
    """Lets nobody join in every other step, and does not say that it changes its mind."""

    @hookimpl
    def can_admit(self, view: SchedulerView) -> bool:
        return view.step % 2 == 0


@pytest.mark.parametrize(("moves", "past"), [("event", True), ("time", False), (None, False)])
def test_only_what_says_so_is_leapt_past(moves: str | None, past: bool) -> None:
    part = Objects()
    if moves is not None:
        part.admission_moves = moves  # type: ignore[attr-defined]
    assert Policy([("objects", part)]).declares.may_leap_past_waiting == past


@given(workloads(), configs(), st.sampled_from(PAST_WAITING), st.booleans())
def test_past_who_waits_the_same_bytes(
    specs: list[RequestSpec], config: EngineConfig, policy: str, watched: bool
) -> None:
    specs = crowd(specs)
    assume(servable(specs, config))
    watchers = [Looks()] if watched else []
    stepped, _ = recorded(specs, config, policy, leaps=False, horizon=99.0)
    leapt, _ = recorded(specs, config, policy, leaps=True, horizon=99.0, watchers=watchers)
    assert everything(leapt) == everything(stepped)


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


def crowd(specs: list[RequestSpec]) -> list[RequestSpec]:
    """Everyone comes at once, and outputs are long, so that many wait."""
    return [
        attrs.evolve(spec, arrival=spec.arrival / 1e3, output_len=3 * spec.output_len)
        for spec in specs
    ]


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


def test_past_who_waits_for_budget_leaps_do_not_go() -> None:
    """Without chunks B lacks budget beside the whole of A's prompt, and none beside its decodes."""
    specs = requests("A(20,13,@0) B(20,5,@0)")
    config = EngineConfig(
        num_gpu_blocks=200, max_num_batched_tokens=33, max_num_seqs=8, enable_chunked_prefill=False
    )
    stepped, _ = recorded(specs, config, "fcfs", leaps=False, horizon=99.0)
    leapt, _ = recorded(specs, config, "fcfs", leaps=True, horizon=99.0)
    assert everything(leapt) == everything(stepped)


def test_who_gives_up_at_the_head_of_the_queue_ends_a_leap() -> None:
    """BIG waits for blocks that A holds; S, behind it, has room as soon as BIG gives up."""
    specs = aborting("A(100,190,@0) BIG(300,5,@0.1) S(10,3,@0.2)", BIG=0.5)
    config = EngineConfig(num_gpu_blocks=20)
    stepped, _ = recorded(specs, config, "fcfs", leaps=False, horizon=99.0)
    leapt, _ = recorded(specs, config, "fcfs", leaps=True, horizon=99.0)
    assert everything(leapt) == everything(stepped)
