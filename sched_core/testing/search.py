"""Looks for a scenario that shows a fault, and then for a smaller one."""

from collections.abc import Sequence

import attrs
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky

from sched_core.experiment.scenario import Scenario
from sched_core.testing.checks.registry import Check
from sched_core.testing.hook_counts import Uses
from sched_core.testing.invariants.registry import FILED
from sched_core.testing.policy_under_test import Subject
from sched_core.testing.trial import Trial


@attrs.frozen
class Found(Exception):
    """A check that fails, and where."""

    check: Check
    problem: str
    scenario: Scenario


def first(
    subject: Subject, checks: Sequence[Check], examples: int, uses: Uses | None = None
) -> Found | None:
    """The first of `checks` to fail, and the scenario that showed it; None if all pass.

    The same scenarios are tried every time, and nothing is kept between calls but what `uses`
    counts.
    """
    return _search(subject, checks, examples, [Phase.generate], uses)


def smallest(found: Found, subject: Subject, examples: int) -> Found:
    """The same check's failure on the smallest scenario that can be found."""
    return _search(subject, [found.check], examples, [Phase.generate, Phase.shrink]) or found


def _search(
    subject: Subject,
    checks: Sequence[Check],
    examples: int,
    phases: Sequence[Phase],
    uses: Uses | None = None,
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
        trial = Trial(subject, scenario, invariants, uses)
        for check in checks:
            for problem in check.problems(trial):
                found.append(Found(check, problem, scenario))
                raise found[-1]

    try:
        examine()
    except (Found, Flaky):  # what depends on chance may not come again
        return found[-1]
    return None
