"""A policy that holds requests back until a time is asked again then."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from harness import aborting, requests, serve

from sched_core import (
    NoProgress,
    Policy,
    PolicyError,
    RequestSpec,
    RequestView,
    SchedulerView,
    hookimpl,
)
from sched_core.engine import engine as clock


def test_the_case_of_a_policy_that_waits(shared: Path) -> None:
    folder = shared / "cases2" / "O28-a-policy-that-waits"
    spec = importlib.util.spec_from_file_location("wait_policy", folder / "wait_policy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class WaitAndWake(module.Wait):  # type: ignore[name-defined,misc]
        @hookimpl
        def wake_at(self) -> float:
            return self.until  # type: ignore[no-any-return]

    scenario = json.loads((folder / "scenario.json").read_text("utf-8"))
    specs = [RequestSpec(**row) for row in scenario["requests"]]
    policy = Policy([("case-wait", WaitAndWake())])
    served = serve(specs, policy, **scenario["config"])
    assert served.first_scheduled("late0") == 10.0
    assert served.finishes == {"y0": 2.0, "late0": 12.0}
    with pytest.raises(NoProgress, match="nothing is to come, at step 2, time 2 s: the oldest"):
        serve(specs, Policy([("case-wait", module.Wait())]), **scenario["config"])


@attrs.define(eq=False)
class Opens:
    """Admits nobody before `opens`, and says when it wants to be asked."""

    opens: float
    names: float | None
    asked: list[float] = attrs.field(factory=list)

    @hookimpl
    def can_admit(self, view: SchedulerView) -> bool:
        return view.now >= self.opens

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float | None:
        self.asked.append(view.now)
        return self.names


def opens(at: float, names: Any = ...) -> Policy:
    return Policy([("opens", Opens(at, at if names is ... else names))])


def test_an_idle_engine_is_woken() -> None:
    served = serve("A(8,2,@1) B(8,3,@99)", opens(20.25))
    assert served.finishes == {"A": 22.25, "B": 102.0}


def test_a_wake_between_two_nanoseconds_is_not_too_early() -> None:
    """0.1 + 0.2 is a little more than 0.3, and so is the first nanosecond that is not before it."""
    served = serve("A(8,1,@0)", opens(0.1 + 0.2))
    assert served.rows["A"]["first_scheduled_ns"] == 300_000_001


@pytest.mark.parametrize("names", [None, 0.0, -3.0, 5.0])
def test_a_time_that_is_over_is_none(names: float | None) -> None:
    """At 5 s somebody comes, and 5.0 is over then."""
    with pytest.raises(NoProgress, match="time 5 s"):
        serve("A(8,2,@5)", opens(9.0, names))


def test_the_earliest_of_several_components() -> None:
    parts = [("late", Opens(3.0, 50.0)), ("over", Opens(0.0, 0.0)), ("early", Opens(3.0, 4.5))]
    assert serve("A(8,2,@1)", Policy([*parts])).finishes == {"A": 6.5}


def test_the_horizon_comes_first() -> None:
    served = serve("A(8,2,@1)", opens(20.0), horizon=7.0)
    assert served.engine.recorder.end_ns == 7_000_000_000
    assert served.rows["A"]["state"] == "waiting"


def test_a_wake_in_a_busy_step_is_no_event() -> None:
    """Steps of 1 s go on anyway; the horizon cuts the last one that began before it."""
    served = serve("A(8,9,@0)", policy := opens(0.0, 2.5), horizon=2.75)
    assert [line["time"] for line in served.lines] == [0.0, 1.0, 2.0]
    assert policy.answered()["wake_at"] == ["opens"]


def test_who_is_gone_is_not_waited_for() -> None:
    served = serve(aborting("A(8,2,@1) B(8,2,@30)", A=4.0), opens(20.0))
    assert served.rows["A"]["finish_ns"] == 4_000_000_000
    assert served.finish("B") == 32.0
    alone = serve(aborting("A(8,2,@1)", A=4.0), policy := opens(20.0))
    assert alone.engine.recorder.end_ns == 4_000_000_000
    ((_, part),) = policy.components
    assert part.asked == [1.0]  # type: ignore[attr-defined]


@attrs.define(eq=False)
class AlwaysLater:
    @hookimpl
    def can_admit(self) -> bool:
        return False

    @hookimpl
    def wake_at(self, view: SchedulerView) -> float:
        return view.now + 0.5


def test_waking_for_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "MOST_WAKES", 50)
    with pytest.raises(NoProgress, match="50 times wake_at brought no grant, at step 0, time 25 s"):
        serve("A(8,2,@0)", Policy([("later", AlwaysLater())]))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("soon", "not a number"),
        (float("inf"), "not a finite number"),
        (float("nan"), "not a finite number"),
        (True, "not a number"),
        (1e10, "beyond the longest run .* expected at most 9000000000 s, or None for never"),
    ],
)
def test_what_is_no_time_is_refused(answer: Any, problem: str) -> None:
    with pytest.raises(PolicyError, match=f"'opens', hook 'wake_at', step 0, time 0 s: {problem}"):
        serve(requests("A(8,2,@0)"), opens(9.0, answer))


class Sees:
    def __init__(self) -> None:
        self.seen: list[tuple[float, int, int]] = []

    @hookimpl
    def can_admit(self, request: RequestView) -> bool:
        return request.id != "B"

    @hookimpl
    def wake_at(self, view: SchedulerView) -> None:
        self.seen.append((view.now, len(view.running), len(view.waiting)))


def test_it_is_asked_after_each_step_is_decided_while_anybody_is_there() -> None:
    part = Sees()
    with pytest.raises(NoProgress):
        serve("A(8,2,@0) B(8,2,@1)", Policy([("sees", part)]))
    assert part.seen == [(0.0, 1, 0), (1.0, 1, 1), (2.0, 0, 1), (2.0, 0, 1)]
