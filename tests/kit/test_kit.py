"""What a plugin author sees of the kit."""

import json
import subprocess
import sys

import attrs
import pytest
from hypothesis import given

from sched_core import PluginLoadError, RequestView, UnknownName, hookimpl
from sched_core.scenario import Scenario, from_keys
from sched_core.testing import (
    CheckFailed,
    check_policy,
    outcomes,
    parametrize_with_policy_checks,
    scenarios,
)
from sched_core.testing.checks import CHECKS, TIERS
from sched_core.testing.documents import as_text, document


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
    assert [result.check for result in results] == list(CHECKS)
    assert {result.status for result in results} == {"pass"}
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
    assert [r.check for r in results if r.status == "skip"] == ["G3 true lengths stay hidden"]


def test_a_factory_that_no_other_process_can_import() -> None:
    results = outcomes(lambda: ShortestPrompt(sign=-1), examples=5)
    assert {r.check: r.reason for r in results if r.status != "pass"} == {
        "G1 other processes decide alike": "another process cannot import it"
    }


def test_the_same_scenarios_every_time() -> None:
    first, second = (outcomes(Refuses, examples=20) for _ in range(2))
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
        "ModuleNotFoundError: sched_core.testing needs hypothesis: pip install 'schedfw[test]'"
    )
    done = without_hypothesis(
        "from sched_core.cli import main; main(['policies', 'check', 'fcfs'])"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("schedfw: error: checks need hypothesis: pip install 'schedfw[test]'\n")
