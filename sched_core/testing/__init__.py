"""What a plugin author runs against a policy.

    from sched_core.testing import check_policy, parametrize_with_policy_checks

`check_policy("mine:size=8")` runs every check; on the command line `schedfw policies check` does.
The strategies draw what the checks are tried on, for tests of one's own.
"""

from importlib.util import find_spec

if find_spec("hypothesis") is None:
    raise ModuleNotFoundError(
        "sched_core.testing needs hypothesis: pip install 'schedfw[check]', or '.[check]' in a "
        "checkout",
        name="hypothesis",
    )

from sched_core.testing.kit import (
    CheckFailed,
    Outcome,
    check_policy,
    outcomes,
    parametrize_with_policy_checks,
)
from sched_core.testing.random_policies import policies
from sched_core.testing.strategies import configs, scenarios, workloads

__all__ = [
    "CheckFailed",
    "Outcome",
    "check_policy",
    "configs",
    "outcomes",
    "parametrize_with_policy_checks",
    "policies",
    "scenarios",
    "workloads",
]
