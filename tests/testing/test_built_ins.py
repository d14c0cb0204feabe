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
EXPECTED = {
    "sjf": {STARVES: "who came while nothing was known keeps the key of a long request"},
    "fcfs+oldest+chunk:size=3+swap": {STARVES: "under lasting load the oldest is evicted again"},
}


@pytest.mark.parametrize("policy", [*INSTALLED, *STACKS])
def test_policy(policy: str) -> None:
    examples = min(settings.default.max_examples // 4, 500)
    check_policy(policy, examples=examples, expected_failures=EXPECTED.get(policy))
