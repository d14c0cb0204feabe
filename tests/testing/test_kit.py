"""What a plugin author sees of the kit."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from installed import Site

from sched_core import PluginLoadError, RequestView, SchedulerView, UnknownName, hookimpl
from sched_core.experiment.scenario import Scenario, from_keys
from sched_core.experiment.scenario_text import as_text, document
from sched_core.testing import (
    CheckFailed,
    check_policy,
    outcomes,
    parametrize_with_policy_checks,
    scenarios,
)
from sched_core.testing.checks import CHECKS, TIERS
from sched_core.testing.random_policies import RANDOM_ANSWERS, random_component

YIELDS = "H1 nothing hangs on what follows a yield"


@attrs.define(eq=False)
class ShortestPrompt:
    """Shortest prompt first."""

    priority_moves = "static"
    sign: int = 1

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return self.sign * request.prompt_len


@attrs.define(eq=False)
class Refuses:
    """Lets nobody of tenant b in."""

    @hookimpl
    def can_admit(self, request: RequestView) -> bool:
        return request.tenant != "b"


@parametrize_with_policy_checks(
    [ShortestPrompt, "chunk:size=3", Refuses],
    examples=10,
    expected_failures={Refuses: {"E6 everyone ends": "tenant b is never served"}},
)
def test_a_plugin_authors_own_test(policy: object, check: object) -> None:
    check(policy)  # type: ignore[operator]


def test_a_policy_that_passes() -> None:
    results = check_policy("fcfs", examples=5)
    checks = [result for result in results if result.status != "note"]
    assert [result.check for result in checks] == list(CHECKS)
    assert {result.check: result.status for result in checks} == {
        name: "skip" if name == YIELDS else "pass" for name in CHECKS
    }
    assert set(TIERS) == {"contract", "invariants", "liveness", "determinism", "isolation"}


def test_a_policy_that_fails() -> None:
    with pytest.raises(CheckFailed) as caught:
        check_policy(Refuses, examples=20)
    (failure,) = caught.value.failures
    assert (failure.check, failure.tier, failure.status) == ("E6 everyone ends", "liveness", "fail")
    assert failure.scenario is not None
    (request,) = failure.scenario["requests"]
    assert (request["tenant"], request["prompt_len"], request["output_len"]) == ("b", 1, 1)
    assert "two steps in a row granted nothing" in str(caught.value)
    assert as_text(failure.scenario) in str(caught.value)


def test_expected_failures_are_strict() -> None:
    expected = {"E6 everyone ends": "tenant b is never served"}
    assert check_policy(Refuses, examples=10, expected_failures=expected)
    with pytest.raises(CheckFailed, match="E6 everyone ends: passes, though expected to fail"):
        check_policy("fcfs", examples=2, expected_failures=expected)
    with pytest.raises(UnknownName, match="did you mean 'E6 everyone ends'"):
        check_policy("fcfs", expected_failures={"E6 everybody ends": ""})


def test_an_oracle_may_see_the_truth() -> None:
    results = outcomes("sjf+predict-oracle", examples=2)
    skipped = [r.check for r in results if r.status == "skip"]
    assert skipped == [YIELDS, "G3 true lengths stay hidden"]


def test_a_factory_that_no_other_process_can_import() -> None:
    results = outcomes(lambda: ShortestPrompt(sign=-1), examples=5)
    assert {r.check: r.reason for r in results if r.status == "skip"} == {
        YIELDS: "it has no select_admissions",
        "G1 other processes decide alike": "another process cannot import it",
    }


@attrs.define(eq=False)
class Timid:
    """Answers, and changes nothing."""

    @hookimpl
    def chunk_size(self, limit: int) -> int:
        return min(limit, 10**6)

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterable[RequestView]:
        return (request for request in view.waiting)

    @hookimpl
    def select_victim(self, beneficiary: RequestView) -> None:
        return None

    @hookimpl
    def order_running(self, view: SchedulerView) -> list[RequestView]:
        return list(view.running)

    @hookimpl
    def predict_output(self) -> float:
        return 1.0

    @hookimpl
    def request_finished(self) -> None: ...


def notes(policy: Any, examples: int) -> dict[str, str]:
    found = [result for result in outcomes(policy, examples=examples) if result.tier == "hooks"]
    assert {result.status for result in found} <= {"note"}
    return {note.check: re.sub("[0-9]+(,[0-9]+)*", "N", note.reason or "") for note in found}


def test_what_no_check_can_have_seen_is_noted() -> None:
    assert notes(Timid, 20) == {
        "chunk_size": "asked N times, never cut a chunk",
        "order_running": "asked N times, never left the order of admission",
        "predict_output": "never asked",
        "select_admissions": "asked N times, never left the order of the queue",
        "select_victim": "asked N times, never chose another victim than the engine would",
    }


VICTIMS = {"select_victim", "choose_preempt_mode"}


def test_answers_that_change_something_are_not_noted() -> None:
    """Also those of a threshold as in real runs."""
    for hooks, examples in ((set(RANDOM_ANSWERS) - VICTIMS, 20), (VICTIMS, 100)):
        assert notes(partial(random_component, sorted(hooks)), examples) == {}
    assert notes("chunk:size=512", 100) == {}


def test_the_scenarios_do_not_depend_on_what_is_loaded(site: Site) -> None:
    """hypothesis draws constants that it finds in modules."""
    before = drawn()
    site.install("lab", f"NUMBERS = {list(range(100, 4000, 7))}", {})
    importlib.import_module("lab")
    assert drawn() == before


def drawn() -> list[Scenario]:
    found: list[Scenario] = []

    @settings(max_examples=50, derandomize=True, database=None, phases=[Phase.generate])
    @given(scenarios())
    def draw(scenario: Scenario) -> None:
        found.append(scenario)

    draw()
    return found


def test_the_same_scenarios_every_time() -> None:
    first, second = (outcomes(Refuses, examples=10) for _ in range(2))
    assert first == second


def test_unknown_and_broken_policies_are_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'fcfs'"):
        check_policy("fcsf")
    with pytest.raises(PluginLoadError, match="implements no hook"):
        check_policy(attrs.define(type("Empty", (), {})))


@given(scenarios())
def test_a_scenario_survives_its_file(scenario: Scenario) -> None:
    keys = json.loads(as_text(document(scenario, "fcfs")))
    read = from_keys(keys, "a file")
    same = ("hardware", "config", "seed", "horizon", "goodput")
    assert [getattr(read, name) for name in same] == [getattr(scenario, name) for name in same]
    assert read.workload.requests == scenario.workload.requests  # type: ignore[union-attr]


def without_hypothesis(code: str) -> "subprocess.CompletedProcess[str]":
    code = f"import sys; sys.modules['hypothesis'] = None; {code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_without_hypothesis_the_error_says_what_to_install() -> None:
    done = without_hypothesis("import sched_core.testing")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: sched_core.testing needs hypothesis: pip install 'schedfw[check]', "
        "or '.[check]' in a checkout"
    )
    done = without_hypothesis(
        "from sched_core.cli import main; main(['policies', 'check', 'fcfs'])"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "schedfw: error: checks need hypothesis: pip install 'schedfw[check]', or '.[check]' in a "
        "checkout\n"
    )
