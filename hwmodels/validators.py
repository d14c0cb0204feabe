"""Validators of hardware parameters: a constant that makes no physical sense is refused at once."""

from sched_core import limits

positive = limits.Numbers(1e-30, 1e30)
"""Rates, sizes and shares; the price of a step in the worst of them is still a number."""

non_negative = limits.Numbers(0, 1e30)

seconds = limits.SECONDS

positive_seconds = limits.Numbers(1e-9, limits.MAX_SECONDS, "seconds")
"""At least one nanosecond, the engine's unit."""

positive_int = limits.Integers(1, 2**63 - 1)
