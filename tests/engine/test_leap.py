"""Many steps at once give the same bytes as step by step."""

import pytest
from harness import requests, servable
from hypothesis import assume, given
from hypothesis import strategies as st

from hwmodels.roofline.gpus import A100
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.testing.strategies import configs, workloads
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

EXECUTOR = A100().executor("llama-3-8b", block_size=16)


def recorded(
    specs: list[RequestSpec], config: EngineConfig, policy: str, *, leaps: bool, horizon: float
) -> tuple[Recorder, int]:
    engine = Engine(
        config, Policy.from_spec(policy), EXECUTOR, Workload(specs), horizon=horizon, leaps=leaps
    )
    advances = 1
    while engine.advance():
        advances += 1
    engine.close()
    return engine.recorder, advances


def everything(recorder: Recorder) -> dict[str, object]:
    return {
        name: value.tobytes() if name.startswith("_") else value
        for name, value in vars(recorder).items()
    }


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
    assert everything(leapt) == everything(stepped)


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
