"""Looks for a scenario that shows a fault, and then for a smaller one."""

from collections.abc import Callable, Sequence

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

    Known traps come first and count among the examples. The same scenarios are tried every time,
    and nothing is kept between calls but what `counts` counts.
    """
    examine = _examiner(under_test, checks, counts)
    traps = checks[0].traps[:examples]
    try:
        for scenario in traps:
            examine(scenario)
    except Found as found:
        return found
    left = examples - len(traps)
    return _search(examine, checks, left, [Phase.generate]) if left else None


def smallest(found: Found, under_test: PolicyUnderTest, examples: int) -> Found:
    """The same check's failure on the smallest scenario that can be found."""
    examine = _examiner(under_test, [found.check])
    tried = max(examples, MOST)  # what a trap caught may be rare
    return _search(examine, [found.check], tried, [Phase.generate, Phase.shrink]) or found


MOST = 100
"""Random scenarios, at least, among which one is looked for to be made smaller."""


def _examiner(
    under_test: PolicyUnderTest, checks: Sequence[Check], counts: HookCounts | None = None
) -> Callable[[Scenario], None]:
    """Raises Found where a scenario shows a fault."""
    invariants = [FILED[check.name] for check in checks if check.name in FILED]

    def examine(scenario: Scenario) -> None:
        trial = Trial(under_test, scenario, invariants, counts)
        for check in checks:
            for problem in check.problems(trial):
                raise Found(check, problem, scenario)

    return examine


def _search(
    examine: Callable[[Scenario], None],
    checks: Sequence[Check],
    examples: int,
    phases: Sequence[Phase],
) -> Found | None:
    last: list[Found] = []

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
    def try_one(scenario: Scenario) -> None:
        try:
            examine(scenario)
        except Found as found:
            last.append(found)
            raise

    try:
        try_one()
    except (Found, Flaky):  # what depends on chance may not come again
        return last[-1]
    return None
