from sched_core.testing import parametrize_with_policy_checks


@parametrize_with_policy_checks(["shortest-prompt"], examples=10)
def test_policy(policy, check):
    check(policy)
