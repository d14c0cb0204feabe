"""The invariants under any legal policy, under first come first served, and without a policy."""

from typing import Any

import attrs
from hypothesis import given
from hypothesis import strategies as st

from sched_core.experiment.scenario import Scenario
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.stack import Policy
from sched_core.testing.compare_runs import difference, of_records
from sched_core.testing.invariants import FCFS
from sched_core.testing.random_policies import (
    RANDOM_ANSWERS,
    policies,
    random_component,
    silent_component,
)
from sched_core.testing.run import Run, run_scenario, run_watched
from sched_core.testing.strategies import scenarios


@given(scenarios(), policies())
def test_any_legal_policy(scenario: Scenario, component: object) -> None:
    """H6: however foolish it is."""
    run = run_watched(scenario, Policy([("random", component)]))
    if run.error:
        raise run.error


@given(scenarios(enable_chunked_prefill=True, batching="continuous"))
def test_first_come_first_served(scenario: Scenario) -> None:
    run = run_watched(scenario, Policy.from_spec("fcfs"), FCFS)
    if run.error:
        raise run.error
    assert not run.unfinished


@given(scenarios())
def test_no_opinion_is_the_default(scenario: Scenario) -> None:
    """H2 and H3; the silent component also forces every decode to be treated on its own."""
    default = run_scenario(scenario, Policy([]))
    silent = run_scenario(scenario, Policy([("silent", silent_component())]))
    assert default.error is None
    assert difference(default, silent) is None


@attrs.define(eq=False)
class CountsQuestions:
    """A key that tells how often keys were asked."""

    priority_moves = "event"
    asked: int = 0

    @hookimpl
    def effective_priority(self) -> float:
        self.asked += 1
        return self.asked % 3


@attrs.define(eq=False)
class Observer:
    """Listens to everything."""

    @hookimpl
    def request_arrived(self) -> None: ...

    @hookimpl
    def request_admitted(self) -> None: ...

    @hookimpl
    def tokens_computed(self) -> None: ...

    @hookimpl
    def request_preempted(self) -> None: ...

    @hookimpl
    def request_finished(self) -> None: ...


@given(scenarios(), policies() | st.builds(CountsQuestions))
def test_an_observer_changes_no_decision(scenario: Scenario, component: Any) -> None:
    """Nor how often a key is asked, in leaps neither."""

    def run(*observers: tuple[str, object], in_leaps: bool = False) -> Run:
        policy = Policy([("it", type(component)()), *observers])
        return run_scenario(scenario, policy, in_leaps=in_leaps)

    alone = run()
    assert difference(alone, run(("observer", Observer()))) is None
    assert of_records(alone, run(in_leaps=True)) is None


def never() -> Any:
    raise AssertionError("the second component was asked")


OFTEN_SILENT = {"reject_request", "wake_at"}
"""Their random answers are often None, and of the latter every component is asked."""


@given(scenarios(), st.sampled_from(sorted(RANDOM_ANSWERS.keys() - OFTEN_SILENT)))
def test_the_leftmost_opinion_counts(scenario: Scenario, hook: str) -> None:
    """H3: whoever stands behind a component that always answers is never asked."""
    alone = run_scenario(scenario, Policy([("first", random_component([hook]))]))
    fail = {hook: hookimpl(staticmethod(never))}
    second = ("second", attrs.define(eq=False)(type("Second", (), fail))())
    both = run_scenario(scenario, Policy([("first", random_component([hook])), second]))
    assert difference(alone, both) is None
    assert both.policy.answered() == alone.policy.answered()
