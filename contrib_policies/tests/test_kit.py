"""The kit that schedfw brings for authors of policies, used as anyone would."""

from collections.abc import Callable

from sched_core.testing import parametrize_with_policy_checks


@parametrize_with_policy_checks(["vtc", "vtc:weights=a@3"], examples=20)
def test_policy(policy: str, check: Callable[[str], None]) -> None:
    check(policy)
