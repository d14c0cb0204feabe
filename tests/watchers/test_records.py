"""What watchers are told: of every step by itself, or of leaps, which add up to the same."""

import pickle
from collections.abc import Sequence

import pytest
from harness import requests, servable
from hypothesis import assume, given
from hypothesis import strategies as st

from hwmodels.constant import Constant, ConstantExecutor
from hwmodels.roofline.gpus import A100
from sched_core import InputError, Scenario, simulate
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.execution.executor import Executor
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.testing.strategies import configs, workloads
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

A_LEAP = requests("A(20,90,@0) B(20,50,@0) C(20,200,@1) D(9000,1,@1)")
CONFIG = EngineConfig(num_gpu_blocks=200)
POLICIES = ("fcfs", "priority+swap", "skip-ahead+chunk:size=7", "priority-aging", "vtc")


class Kept(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.records: list[StepRecord] = []

    def stepped(self, record: StepRecord) -> None:
        self.records.append(record)


class Single(Kept):
    single_steps = True


class Queues(Kept):
    queues = True


def watched(
    watchers: Sequence[Watcher],
    specs: list[RequestSpec] = A_LEAP,
    config: EngineConfig = CONFIG,
    policy: str = "fcfs",
    executor: Executor | None = None,
) -> Recorder:
    executor = executor or A100().executor("llama-3-8b", block_size=config.block_size)
    return Engine(
        config, Policy.from_spec(policy), executor, Workload(specs), horizon=9.0, watchers=watchers
    ).run()


def test_a_leap_is_one_record() -> None:
    leaps, steps = Kept(), Single()
    watched([leaps])
    recorder = watched([steps])
    assert len(steps.records) == recorder.steps > 10 * len(leaps.records)
    assert all(record.repeats == 1 for record in steps.records)
    assert max(record.repeats for record in leaps.records) > 20


def run_together(single: Sequence[StepRecord]) -> StepRecord:
    """The record of a leap, of those of its steps."""
    first, last = single[0], single[-1]
    assert all(each.repeats == 1 for each in single)
    assert not any(each.finished for each in single[:-1])
    return last._replace(
        plan=first.plan,
        durations_ns=tuple(each.durations_ns[0] for each in single),
        rejected=first.rejected,
    )


@given(workloads(), configs(), st.sampled_from(POLICIES))
def test_leaps_tell_what_their_steps_tell(
    specs: list[RequestSpec], config: EngineConfig, policy: str
) -> None:
    """Blocks by id included, with prefix caching and without."""
    assume(servable(specs, config))
    leaps, steps = Kept(), Single()
    recorder = watched([leaps], specs, config, policy)
    watched([steps], specs, config, policy)
    rest = iter(steps.records)
    for record in leaps.records:
        assert record == run_together([next(rest) for _ in range(record.repeats)])
    assert next(rest, None) is None
    assert sum(record.repeats for record in leaps.records) == recorder.steps
    assert sum(sum(record.durations_ns) for record in leaps.records) == recorder.busy_ns


def test_a_leap_past_who_waits_tells_what_its_steps_tell() -> None:
    """B, which lost its place to A, waits while A decodes on; nobody chose anybody meanwhile."""
    specs = requests("A(11,22,@0) B(1,40,@0)")
    config = EngineConfig(
        block_size=1, num_gpu_blocks=41, enable_prefix_caching=True, max_num_batched_tokens=32
    )
    leaps, steps = Kept(), Single()
    watched([leaps], specs, config, "skip-ahead")
    watched([steps], specs, config, "skip-ahead")
    rest = iter(steps.records)
    for record in leaps.records:
        assert record == run_together([next(rest) for _ in range(record.repeats)])
    assert any(record.repeats > 1 and record.num_waiting for record in leaps.records)
    assert any(record.plan.preemptions for record in leaps.records)


def test_records_are_plain_data() -> None:
    seen = Kept()
    watched([seen], requests("R0(32,32,@0) R1(32,32,@0)"), EngineConfig(num_gpu_blocks=6))
    assert any(record.plan.preemptions for record in seen.records)
    assert pickle.loads(pickle.dumps(seen.records)) == seen.records


def test_several_watchers_are_told_the_same() -> None:
    one, other = Kept(), Kept()
    watched([one, other])
    assert len(one.records) == len(other.records) > 0
    assert all(a is b for a, b in zip(one.records, other.records, strict=True))


def test_one_that_wants_single_steps_gives_them_to_all() -> None:
    one, other = Kept(), Single()
    watched([one, other])
    assert one.records == other.records
    assert {record.repeats for record in one.records} == {1}


def test_queues_are_told_where_somebody_reads_them() -> None:
    plain, reading = Kept(), Queues()
    watched([plain])
    watched([reading])
    assert {(record.running, record.waiting) for record in plain.records} == {(None, None)}
    for record in reading.records:
        assert record.running is not None
        assert record.waiting is not None
        assert (len(record.running), len(record.waiting)) == (
            record.num_running,
            record.num_waiting,
        )
    bare = [record._replace(running=None, waiting=None) for record in reading.records]
    assert bare == plain.records


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the methods that were called to make a plan."""
    called: list[str] = []
    for name in ("plan", "plan_of_leap"):
        usual = getattr(PlanBuilder, name)

        def counted(*args: object, name: str = name, usual: object = usual) -> object:
            called.append(name)
            return usual(*args)  # type: ignore[operator]

        monkeypatch.setattr(PlanBuilder, name, counted)
    return called


def test_nobody_watches_so_no_plan_is_made(built: list[str]) -> None:
    watched([])
    assert built == []
    watched([Kept()])
    assert set(built) == {"plan", "plan_of_leap"}


def test_what_runs_for_real_gets_a_plan_of_every_step(
    built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConstantExecutor, "modelled", False)
    recorder = watched([], executor=Constant(step=0.1).executor(None, block_size=16))
    assert built == ["plan"] * recorder.steps


def test_a_function_is_no_watcher() -> None:
    with pytest.raises(InputError, match=r"'watchers': cannot watch .*expected instances of a sub"):
        simulate(Scenario(workload="poisson:n=5"), watchers=[print])  # type: ignore[list-item]
