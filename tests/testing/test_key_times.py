"""D4 and E7: when a key is asked, and how far aging lets anybody pass."""

from typing import Any

import attrs
import pytest
from harness import serve
from hypothesis import given

from sched_core import RequestSpec, RequestView, SchedulerView, hookimpl
from sched_core.experiment.scenario import Scenario
from sched_core.policy.stack import Policy
from sched_core.scheduler.admission import SlowKeys
from sched_core.testing import CheckFailed, check_policy
from sched_core.testing.run import run_scenario
from sched_core.testing.strategies import scenarios

PERIOD = 5.0


@attrs.define(eq=False)
class Impatient:
    """A key that moves with time, and a note of when it was asked for."""

    priority_moves = "time"
    asked: list[tuple[float, float]] = attrs.field(init=False, factory=list)
    """(time at which the step began, time that the hook was told)"""
    _began: float | None = attrs.field(init=False, default=None)

    @hookimpl
    def step_budget(self, view: SchedulerView) -> None:
        self._began = view.now

    @hookimpl
    def effective_priority(self, request: RequestView, now: float) -> float:
        if self._began is not None:
            self.asked.append((self._began, now))
        return request.priority - (now - request.arrival) / PERIOD

    @hookimpl
    def tokens_computed(self) -> None:
        self._began = None


def test_a_key_is_of_the_time_at_which_the_step_begins() -> None:
    """D4: for admission and for the choice of a victim alike."""
    component = Impatient()
    served = serve(
        "R0(32,32,@0) R1(32,32,@0.5) R2(5,3,@2.5)", Policy([("it", component)]), num_gpu_blocks=6
    )
    assert any(line["preempted"] for line in served.lines)
    assert component.asked
    assert all(began == told for began, told in component.asked)


def first_admissions(decisions: list[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in decisions:
        for name in line["admitted"]:
            found.setdefault(name, line["step"])
    return found


@given(scenarios())
def test_aging_bounds_who_may_pass(scenario: Scenario) -> None:
    """E7: of those that come later only who comes within the period per level of difference."""
    served = run_scenario(scenario, Policy.from_spec(f"priority-aging:period={PERIOD}"))
    admitted = first_admissions(served.decisions)
    requests = scenario.workload.requests  # type: ignore[union-attr]
    for late in requests:
        for early in requests:
            passes = admitted.get(late.id, 10**9) < admitted.get(early.id, -1)
            if passes and late.arrival > early.arrival:
                levels = early.priority - late.priority
                assert late.arrival < early.arrival + PERIOD * levels


@attrs.define(eq=False)
class Aging:
    """A key that time moves alike for everyone."""

    priority_moves = "clock"
    asked: list[float] = attrs.field(init=False, factory=list)

    @hookimpl
    def effective_priority(self, request: RequestView, now: float) -> float:
        self.asked.append(now)
        return request.priority - (now - request.arrival) / PERIOD


def test_keys_that_a_clock_moves_alike_are_asked_once() -> None:
    """In the order of the same key asked again and again."""
    specs = "A(32,9,@0,0) B(32,9,@1,3) C(32,9,@2,2) D(32,9,@9,0) E(32,9,@9.5,1)"
    component = Aging()
    once = serve(specs, Policy([("it", component)]), max_num_seqs=1)
    again = serve(specs, Policy([("it", Impatient())]), max_num_seqs=1)
    assert once.lines == again.lines
    assert [line["admitted"] for line in once.lines if line["admitted"]] != sorted(once.rows)
    assert component.asked == [0.0] * 5
    assert check_policy(Aging, examples=20)


def test_a_clock_that_moves_keys_apart_is_found() -> None:
    class Uneven(Aging):
        @hookimpl
        def effective_priority(self, request: RequestView, now: float) -> float:
            return -(now - request.arrival) * (1 + request.priority)

    with pytest.raises(CheckFailed, match=r'above that of .*"time" would be right'):
        check_policy(Uneven, examples=30)


def test_many_requests_with_keys_that_move_are_told() -> None:
    crowd = [RequestSpec(f"r{n}", 0.0, 4, 1) for n in range(1100)]
    with pytest.warns(SlowKeys, match=r'keys of it are asked again and again.*"time"'):
        serve(crowd, Policy([("it", Impatient())]), horizon=2.0)
