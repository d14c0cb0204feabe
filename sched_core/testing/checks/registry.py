"""What a check of a policy is, and where its function is filed under its name."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from sched_core.experiment.scenario import Scenario
from sched_core.testing.checks import traps as known
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.strategies import scenarios
from sched_core.testing.trial import Trial


@attrs.frozen
class Check:
    """A rule for policies; `problems` yields a sentence for everything that is wrong."""

    name: str
    tier: str
    problems: Callable[[Trial], Iterator[str]]
    scenarios: st.SearchStrategy[Scenario]
    traps: Sequence[Scenario]
    """Tried before any of those."""
    skip: Callable[[PolicyUnderTest], str | None]
    """Why it says nothing about a policy; None if it does."""
    waiver: Callable[[PolicyUnderTest], str | None]
    """Why a policy that fails does no wrong: it says that it does not promise this; None if not."""


FILED: list[Check] = []
"""In order of definition; complete once `sched_core.testing.checks` is imported."""

ANY = scenarios()


def check(
    name: str,
    tier: str,
    *,
    scenarios: st.SearchStrategy[Scenario] = ANY,
    traps: Sequence[Scenario] = known.ANY,
    skip: Callable[[PolicyUnderTest], str | None] = lambda _: None,
    waiver: Callable[[PolicyUnderTest], str | None] = lambda _: None,
) -> Callable[[Any], Any]:
    """File a function as a check, to be tried on `scenarios`."""

    def file(problems: Any) -> Any:
        FILED.append(Check(name, tier, problems, scenarios, traps, skip, waiver))
        return problems

    return file
