"""Looks for a scenario that shows a fault, and then for a smaller one."""

from collections.abc import Sequence

import attrs
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky

from sched_core.experiment.scenario import Scenario
from sched_core.testing.checks.registry import Check
from sched_core.testing.hook_counts import HookCounts
from sched_core.testing.invariants.registry import FILED
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.trial import Trial


@attrs.frozen
class Found(Exception):
    """A check that fails, and where."""

    check: Check
    problem: str
    scenario: Scenario


def first(
    under_test: PolicyUnderTest,
    checks: Sequence[Check],
    examples: int,
    counts: HookCounts | None = None,
) -> Found | None:
    """The first of `checks` to fail, and the scenario that showed it; None if all pass.

    The same scenarios are tried every time, and nothing is kept between calls but what `counts`
    counts.
    """
    return _search(under_test, checks, examples, [Phase.generate], counts)


def smallest(found: Found, under_test: PolicyUnderTest, examples: int) -> Found:
    """The same check's failure on the smallest scenario that can be found."""
    return _search(under_test, [found.check], examples, [Phase.generate, Phase.shrink]) or found


def _search(
    under_test: PolicyUnderTest,
    checks: Sequence[Check],
    examples: int,
    phases: Sequence[Phase],
    counts: HookCounts | None = None,
) -> Found | None:
    invariants = [FILED[check.name] for check in checks if check.name in FILED]
    found: list[Found] = []

    @seed(0)  # derandomize would follow the text of this function
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(checks[0].scenarios)
    def examine(scenario: Scenario) -> None:
        trial = Trial(under_test, scenario, invariants, counts)
        for check in checks:
            for problem in check.problems(trial):
                found.append(Found(check, problem, scenario))
                raise found[-1]

    try:
        examine()
    except (Found, Flaky):  # what depends on chance may not come again
        return found[-1]
    return None
