"""All invariants, A to F, filed under their names. Importing this module registers them."""

from sched_core.testing import blocks, order, steps, tokens
from sched_core.testing.observe import FCFS_CHECKS, RUN_CHECKS, STEP_CHECKS, InvariantError, Ledger

__all__ = [
    "FCFS_CHECKS",
    "RUN_CHECKS",
    "STEP_CHECKS",
    "InvariantError",
    "Ledger",
    "blocks",
    "order",
    "steps",
    "tokens",
]
