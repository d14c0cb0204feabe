"""Every policy that is installed, and some stacks, pass the kit."""

import pytest
from hypothesis import settings

from sched_core.catalogue import entries as catalogue
from sched_core.testing import check_policy

INSTALLED = [plugin.name for plugin in catalogue.plugins("policies") if not plugin.problem]

STACKS = (
    "priority:aging=5",
    "priority+lowest-priority+swap",
    "sjf+predict-oracle",
    "skip-ahead:max_bypasses=2+priority",
    "fcfs+oldest+chunk:size=3+swap",
    "cost-aware+adaptive+fill-tile:tile=8",
    "vtc:weights=a@3+largest-kv",
)

STARVES = "E6 no equal starves"


@pytest.mark.parametrize("policy", [*INSTALLED, *STACKS])
def test_policy(policy: str) -> None:
    examples = min(settings.default.max_examples // 4, 500)
    check_policy(policy, examples=examples)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("sjf", "sjf may starve requests predicted long, while shorter ones keep coming"),
        ("fcfs+oldest+chunk:size=3+swap", "oldest may starve the oldest, evicted again and again"),
    ],
)
def test_what_is_not_promised(policy: str, said: str) -> None:
    """They do starve equal requests, and say whom."""
    (outcome,) = [one for one in check_policy(policy, examples=30) if one.check == STARVES]
    assert outcome.status == "not promised"
    assert outcome.reason is not None
    assert outcome.reason.startswith(said)
    assert "requests came after r" in outcome.reason
