"""The kit: does a policy keep the contract, serve everyone, and decide alike every time?"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import attrs

from sched_core.errors import UnknownName
from sched_core.experiment.scenario_text import as_text, document
from sched_core.testing.checks import CHECKS
from sched_core.testing.checks.registry import Check
from sched_core.testing.hook_counts import HookCounts
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.search import Found, first, smallest

EXAMPLES = 100
"""Scenarios that each check is tried on."""

PolicyLike = Any
"""A spec string such as `priority:aging=30+adaptive`, a class or function that builds a component,
an instance of one, or a tuple of these but functions."""


@attrs.frozen
class Outcome:
    """What came of one check; or, as a note, what no check can have seen of a hook."""

    check: str
    """Its name, or the hook's."""
    tier: str
    status: Literal["pass", "fail", "not promised", "skip", "note"]
    """"not promised": it fails, and says that it may."""
    reason: str | None = None
    """What is wrong, or why the check says nothing about this policy, or the hook never did."""
    scenario: dict[str, Any] | None = None
    """The smallest scenario that shows it, as the keys of a scenario file."""

    def __str__(self) -> str:
        text = f"{self.check}: {self.reason or self.status}"
        if self.scenario is None:
            return text
        return (
            f"{text}\nThe smallest scenario that shows it, for `schedfw run FILE`:\n"
            f"{as_text(self.scenario)}"
        )


class CheckFailed(AssertionError):
    """A policy does not pass its checks."""

    def __init__(self, name: str, failures: Sequence[Outcome]) -> None:
        self.failures = failures
        listed = "\n\n".join(map(str, failures))
        super().__init__(f"policy {name!r} fails {len(failures)} of its checks\n\n{listed}")


def outcomes(policy: PolicyLike, *, examples: int = EXAMPLES) -> list[Outcome]:
    """Try every check on random scenarios, the same ones every time.

    After the checks come notes: a hook that was never asked, or changed nothing, is not checked.

    Raises UsageError where the policy is unknown, or cannot be loaded or built.
    """
    under_test = PolicyUnderTest.of(policy)
    found: dict[str, Outcome] = {}
    counts = HookCounts()
    for scenarios in {id(check.scenarios): check.scenarios for check in CHECKS.values()}.values():
        alike = [check for check in CHECKS.values() if check.scenarios is scenarios]
        found |= _try(under_test, alike, examples, counts)
    notes = counts.notes(under_test.policy().uses)
    return [found[name] for name in CHECKS] + [Outcome(n, "hooks", "note", why) for n, why in notes]


def _try(
    under_test: PolicyUnderTest, checks: list[Check], examples: int, counts: HookCounts
) -> dict[str, Outcome]:
    """The outcomes of checks that share their scenarios, and so their runs."""
    skips = {check.name: check.skip(under_test) for check in checks}
    left = [check for check in checks if skips[check.name] is None]
    found = {c.name: Outcome(c.name, c.tier, "skip", skips[c.name]) for c in checks}
    while left and (failure := first(under_test, left, examples, counts)):
        left.remove(failure.check)
        found[failure.check.name] = _failed(under_test, smallest(failure, under_test, examples))
    return found | {check.name: Outcome(check.name, check.tier, "pass") for check in left}


def _failed(under_test: PolicyUnderTest, failure: Found) -> Outcome:
    check, scenario = failure.check, document(failure.scenario, under_test.spec)
    if waiver := check.waiver(under_test):
        reason = f"{waiver}; here {failure.problem}"
        return Outcome(check.name, check.tier, "not promised", reason, scenario)
    return Outcome(check.name, check.tier, "fail", failure.problem, scenario)


def check_policy(
    policy: PolicyLike,
    *,
    examples: int = EXAMPLES,
    expected_failures: Mapping[str, str] | None = None,
) -> list[Outcome]:
    """Run every check; raises CheckFailed unless all pass but `expected_failures`, and what the
    policy does not promise.

    That maps names of checks to reasons; one that passes nevertheless is a failure too.
    """
    expected = dict(expected_failures or {})
    _refuse_unknown(expected)
    results = outcomes(policy, examples=examples)
    wrong = [one for one in results if one.status == "fail" and one.check not in expected]
    wrong += [
        attrs.evolve(one, reason=f"passes, though expected to fail: {expected[one.check]}")
        for one in results
        if one.status == "pass" and one.check in expected
    ]
    if wrong:
        raise CheckFailed(PolicyUnderTest.of(policy).name, wrong)
    return results


def parametrize_with_policy_checks(
    policies: Sequence[PolicyLike],
    *,
    examples: int = EXAMPLES,
    expected_failures: Mapping[PolicyLike, Mapping[str, str]] | None = None,
) -> Any:
    """A pytest decorator: one test per policy and check.

        @parametrize_with_policy_checks(["fcfs", "mine:size=8"])
        def test_policy(policy, check):
            check(policy)

    `expected_failures` maps a policy to {name of a check: reason}; such a test must fail.
    """
    import pytest

    expected = {policy: dict(reasons) for policy, reasons in (expected_failures or {}).items()}
    for reasons in expected.values():
        _refuse_unknown(reasons)
    parameters = []
    for policy in policies:
        reasons = expected.get(policy, {}) if isinstance(policy, Hashable) else {}
        once = _Once(policy, examples)
        label = policy if isinstance(policy, str) else getattr(policy, "__name__", str(policy))
        for name in CHECKS:
            reason = reasons.get(name, "")
            fails = pytest.mark.xfail(reason=reason, raises=CheckFailed, strict=True)
            parameters.append(
                pytest.param(
                    policy,
                    partial(_judge, name=name, once=once),
                    id=f"{label}-{name}",
                    marks=[fails] if reason else [],
                )
            )
    return pytest.mark.parametrize(("policy", "check"), parameters)


class _Once:
    """The checks of a policy, run together when the first of them is asked for."""

    def __init__(self, policy: PolicyLike, examples: int) -> None:
        self._policy, self._examples = policy, examples

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        return {one.check: one for one in outcomes(self._policy, examples=self._examples)}


def _judge(policy: PolicyLike, *, name: str, once: _Once) -> None:
    """Pass, skip or fail as a check did, or be expected to fail."""
    import pytest

    outcome = once.outcomes[name]
    if outcome.status == "skip":
        pytest.skip(outcome.reason or "")
    if outcome.status == "not promised":
        pytest.xfail(outcome.reason or "")
    if outcome.status == "fail":
        raise CheckFailed(PolicyUnderTest.of(policy).name, [outcome])


def _refuse_unknown(names: Mapping[str, str]) -> None:
    for name in names:
        if name not in CHECKS:
            raise UnknownName("check", name, CHECKS)
