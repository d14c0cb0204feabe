"""What is built to run and to compare, and how often."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import attrs
import pytest
from command_line import schedfw
from harness import Seen
from sched_plugins.workloads.synthetic.generators import Synthetic

from hwmodels.constant import Constant, ConstantExecutor
from sched_core import EngineConfig, InputError, Scenario, compare, simulate
from sched_core.calibration.real_runs import validate
from sched_core.engine.engine import Engine
from sched_core.experiment.prepare import prepare

SCENARIO = Scenario(
    workload="poisson:n=40:request_rate=20",
    hardware="constant:step=0.02",
    config=EngineConfig(num_gpu_blocks=700),
)
POLICIES = ["fcfs", "priority"]
REAL = patch.object(ConstantExecutor, "modelled", False)
"""As if the executor ran its steps and might remember them."""


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How often each of these was built inside the block."""
    built: Counter[str] = Counter()

    def counting(name: str, usual: Any) -> Any:
        def build(*given: Any, **how: Any) -> Any:
            built[name] += 1
            return usual(*given, **how)

        return build

    with ExitStack() as stack:
        for name, cls, method in (
            ("hardware", Constant, "__init__"),
            ("executors", Constant, "executor"),
            ("workloads", Synthetic, "build"),
            ("engines", Engine, "__init__"),
        ):
            stack.enter_context(patch.object(cls, method, counting(name, getattr(cls, method))))
        yield built


def test_preparing_builds_no_engine_and_nothing_twice() -> None:
    with counted() as built:
        prepared = prepare(SCENARIO, POLICIES, seeds=3)
    assert built == {"hardware": 1, "executors": 1, "workloads": 3}
    assert len(prepared.cells) == 6


def test_a_comparison_builds_an_engine_per_run_and_all_else_once() -> None:
    with counted() as built:
        compare(SCENARIO, POLICIES, seeds=3)
    assert built == {"hardware": 1, "executors": 1, "workloads": 3, "engines": 6}


def test_what_runs_steps_for_real_is_built_for_each_run() -> None:
    with counted() as built, REAL:
        compare(SCENARIO, POLICIES, seeds=3)
    assert built == {"hardware": 1, "executors": 1 + 6, "workloads": 3, "engines": 6}


def test_workers_build_what_they_run() -> None:
    with counted() as built:
        compare(SCENARIO, POLICIES, jobs=2)
    assert built == {"hardware": 1, "executors": 1, "workloads": 1}


@pytest.mark.parametrize(
    ("command", "engines"), [(["run"], 1), (["compare", "--policies=fcfs,sjf", "--jobs=1"], 2)]
)
def test_commands_prepare_once(command: list[str], engines: int) -> None:
    given = ["--workload=poisson:n=40", "--hardware=constant", "--num-gpu-blocks=700"]
    with counted() as built:
        done = schedfw(*command, *given)
    assert done.exit_code == 0, done.stderr
    assert built == {"hardware": 1, "executors": 1, "workloads": 1, "engines": engines}


def test_validation_builds_either_hardware_once() -> None:
    """2 policies in 1 round at 2 loads, for real and simulated, and what can be served at most."""
    with counted() as built:
        validate(SCENARIO, "constant:step=0.021", POLICIES, rounds=1)
    assert built == {"hardware": 2, "executors": 2, "workloads": 1, "engines": 2 * 2 * 2 + 1}


def test_a_shared_executor_and_one_for_each_run_give_the_same() -> None:
    shared = compare(SCENARIO, POLICIES, seeds=2).document()
    with REAL:
        assert compare(SCENARIO, POLICIES, seeds=2).document() == shared


def test_every_watcher_sees_every_step() -> None:
    seen: list[list[int]] = [[], [], []]
    watchers = [Seen(lambda record, to=to: to.append(record.plan.step)) for to in seen]
    report = simulate(SCENARIO, watchers=watchers)
    assert seen[0] == seen[1] == seen[2] == list(range(report.results[0].summary["steps"]))


def test_other_requests_are_checked_like_the_first() -> None:
    prepared = prepare(SCENARIO, POLICIES)
    (workload,) = prepared.workloads.values()
    few = attrs.evolve(workload, requests=workload.requests[:5])
    assert prepared.over(few).execute(prepared.cells[0]).summary["submitted"] == 5
    assert prepared.over(few).setting["workload"]["requests"] == 5
    with pytest.raises(InputError, match="no request"):
        prepared.over(attrs.evolve(workload, requests=[]))
