"""Invariants A to G over random workloads, configurations and policies."""

from typing import Any

import attrs
import pytest
from harness import play
from hypothesis import given, note
from hypothesis import strategies as st

from hwmodels.constant import Constant
from sched_core.config import EngineConfig
from sched_core.errors import InputError
from sched_core.hookspecs import Decisions, hookimpl
from sched_core.policy import Policy
from sched_core.request import RequestSpec
from sched_core.testing.foolish import foolish_component, policies
from sched_core.testing.invariants import FCFS
from sched_core.testing.runs import run_watched
from sched_core.testing.strategies import configs, workloads

BUILT_IN = (
    "fcfs",
    "priority",
    "priority-aging:period=5",
    "sjf",
    "sjf+predict-oracle",
    "skip-ahead",
    "fcfs+youngest+swap",
    "fcfs+oldest",
    "fcfs+fewest-computed",
    "fcfs+fewest-remaining+predict-history",
    "fcfs+largest-kv+swap",
    "priority+lowest-priority",
    "fcfs+cost-aware+adaptive",
    "fcfs+chunk:size=5",
    "fcfs+fill-tile:tile=8",
)


def executor(config: EngineConfig) -> Any:
    return Constant(step=1.0).executor(None, block_size=config.block_size)


def watched(specs: list[RequestSpec], config: EngineConfig, policy: Policy, **options: Any) -> Any:
    try:
        return run_watched(specs, config, policy, executor(config), **options)
    except InputError as refused:
        note(str(refused))
        return None


@given(workloads(), configs(), policies(), st.integers(0, 9))
def test_any_legal_policy(
    specs: list[RequestSpec], config: EngineConfig, component: object, seed: int
) -> None:
    watched(specs, config, Policy([("foolish", component)]), seed=seed)


@pytest.mark.parametrize("spec", BUILT_IN)
@given(workloads(), configs())
def test_built_in_policies_finish_everything(
    spec: str, specs: list[RequestSpec], config: EngineConfig
) -> None:
    engine = watched(specs, config, Policy.from_spec(spec))
    if engine is not None:
        counts = engine.counts()
        assert counts["finished"] + counts["rejected"] == counts["submitted"]


@given(workloads(), configs(enable_chunked_prefill=True, batching="continuous"))
def test_first_come_first_served(specs: list[RequestSpec], config: EngineConfig) -> None:
    engine = watched(specs, config, Policy.from_spec("fcfs"), checks=FCFS)
    if engine is not None:
        columns = engine.recorder.columns()
        done = columns["finish_ns"] >= 0
        work = (columns["prompt_len"] + columns["output_tokens"] - 1)[done].sum()
        assert engine.recorder.steps <= work  # E4


class NoOpinion:
    """Implements every question and answers none."""

    priority_moves = "static"


for _name in vars(Decisions):
    if not _name.startswith("_"):
        setattr(NoOpinion, _name, hookimpl(staticmethod(lambda: None)))


@given(workloads(), configs())
def test_no_opinion_is_the_default(specs: list[RequestSpec], config: EngineConfig) -> None:
    """H2 and H3; the silent component also forces every decode to be treated on its own."""
    settings = attrs.asdict(config)
    try:
        default = play(specs, Policy([]), **settings)
    except InputError:
        return
    silent = play(specs, Policy([("silent", NoOpinion())]), **settings)
    assert silent.lines == default.lines
    assert silent.rows == default.rows


def test_foolish_component_answers_what_it_is_told() -> None:
    policy = Policy([("foolish", foolish_component(["chunk_size"]))])
    assert [name for name, hook in policy.hooks.items() if hook] == ["chunk_size"]
