"""When a policy that waits for a time is asked again."""

from math import ceil

from sched_core.limits import NANOSECONDS
from sched_core.scheduler.state import SchedulerState

MOST_WAKES = 100_000
"""Steps in a row that a policy may ask for and grant nothing in; then it will never grant."""


def wake_ns(state: SchedulerState) -> int | None:
    """The first nanosecond at which `view.now` is what the policy names, or later; None for never.

    Nobody is asked where nobody is there.
    """
    if "wake_at" not in state.policy.uses or not (state.running or state.waiting.size):
        return None
    seconds = state.policy.wake_at(state.view)
    if seconds is None:
        return None
    ns = ceil(seconds * NANOSECONDS)
    return ns if ns / NANOSECONDS >= seconds else ns + 1
