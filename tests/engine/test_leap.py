"""Many steps at once give the same bytes as step by step."""

from collections.abc import Sequence

import pytest
from harness import aborting, everything, requests, servable
from hypothesis import assume, given
from hypothesis import strategies as st
from leaps import Looks, crowd, recorded

from sched_core.config import EngineConfig
from sched_core.execution.step_record import Watcher
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.stack import Policy
from sched_core.policy.views import SchedulerView
from sched_core.testing.strategies import configs, workloads
from sched_core.workload.spec import RequestSpec

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
