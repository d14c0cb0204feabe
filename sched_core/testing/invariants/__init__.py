"""All invariants: A blocks, B tokens, C plans, D order, E liveness, F figures, H events, I reads.

G, and H as far as it is about plugins, compare runs: those are checks of policies.
"""

from sched_core.testing.invariants import (
    blocks,
    events,
    figures,
    liveness,
    memory,
    order,
    shadow,
    steps,
    timing,
    tokens,
)
from sched_core.testing.invariants.registry import FILED, Invariant

MODULES = (memory, shadow, blocks, tokens, steps, order, liveness, timing, figures, events)

FCFS: tuple[Invariant, ...] = tuple(FILED[name] for name in sorted(FILED))
"""Every invariant; all hold under first come, first served."""

GENERAL: tuple[Invariant, ...] = tuple(each for each in FCFS if not each.fcfs)
"""Those that hold under any legal policy."""
