"""What a policy is checked for: a module for each tier."""

from sched_core.testing.checks import contract, determinism, invariants, isolation, liveness
from sched_core.testing.checks.registry import FILED, Check

TIERS: dict[str, list[Check]] = {
    module.TIER: [check for check in FILED if check.tier == module.TIER]
    for module in (contract, invariants, liveness, determinism, isolation)
}

CHECKS: dict[str, Check] = {check.name: check for tier in TIERS.values() for check in tier}
