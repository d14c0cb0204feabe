"""Policies are asked and told in the order that docs/reference/hooks.md names."""

import re
from itertools import pairwise
from typing import Any

from doc_pages import ROOT
from hook_order import Listener
from hypothesis import given

from hwmodels.constant import Constant
from sched_core import Engine, Scenario, Workload
from sched_core.policy.binding import HOOKS
from sched_core.testing.random_policies import policies
from sched_core.testing.strategies import scenarios

ANY_TIME = "predict_output"
"""Asked when it is read."""


def phases() -> list[set[str]]:
    """The hooks of each part of a step as the page has them: its numbered points, its end, and
    what comes before the next one."""
    page = (ROOT / "docs" / "reference" / "hooks.md").read_text("utf-8")
    text = page.partition("## The order")[2].partition("\nSo `")[0]
    between, _, rest = text.partition("**A step**")
    step, _, end = rest.partition("**When it has ended**")
    points = re.split(r"(?m)^\d\. ", step)[1:]
    found = [set(re.findall(r"`(\w+)`", part)) & set(HOOKS) for part in (*points, end, between)]
    again = {"choose_preempt_mode", "request_preempted", "effective_priority"}
    assert again <= found[0]  # "the three questions and events of 1", also for victims of a seat
    return [hooks | again if "select_victim" in hooks else hooks for hooks in found]


def test_the_page_names_every_hook() -> None:
    assert set.union(*phases()) == {*HOOKS} - {ANY_TIME}


def heard(scenario: Scenario, component: object) -> list[list[str]]:
    """What a policy heard from the beginning of one step to that of the next."""
    listener, segments = Listener(), [[]]  # type: ignore[var-annotated]
    assert isinstance(scenario.workload, Workload)
    executor = Constant(step=1.0).executor(None, block_size=scenario.config.block_size)
    engine = Engine(
        scenario.config,
        listener.before(("it", component)),
        executor,
        scenario.workload,
        horizon=scenario.horizon,
    )
    begin = engine.instance.begin

    def begin_here(*args: Any) -> Any:
        listener.heard = []
        segments.append(listener.heard)
        return begin(*args)

    segments[0] = listener.heard
    engine.instance.begin = begin_here  # type: ignore[method-assign]
    engine.run()
    return segments


@given(scenarios(batching="continuous"), policies())
def test_the_order_of_a_step(scenario: Scenario, component: object) -> None:
    parts = phases()
    first, *steps = heard(scenario, component)
    assert {line.split()[0] for line in first} <= parts[-1]
    for step in steps:
        part = 0
        for line in step:
            hook = line.split()[0]
            where = [n for n in range(part, len(parts)) if hook in parts[n]]
            assert where or hook == ANY_TIME, (line, part, step)
            part = where[0] if where else part


@given(scenarios(), policies())
def test_the_order_of_a_request(scenario: Scenario, component: object) -> None:
    """Told before it is asked about, and asked about nothing once it has ended."""
    told: dict[str, list[str]] = {}
    for line in (line for step in heard(scenario, component) for line in step):
        hook, *names = line.split()
        for name in names:
            told.setdefault(name, []).append(hook)
    for hooks in told.values():
        assert (hooks[0], hooks.count("request_arrived")) == ("request_arrived", 1)
        assert "request_finished" not in hooks[:-1]
        admitted = has_run = False
        for before, hook in pairwise(hooks):
            if hook in ("tokens_computed", "request_preempted", "choose_preempt_mode"):
                assert admitted
            if hook == "request_admitted":
                assert not admitted
                has_run = True
            if hook == "reject_request":
                assert not has_run
            if before == "request_preempted":
                assert hook == "effective_priority"
            admitted = hook == "request_admitted" or (admitted and hook != "request_preempted")
