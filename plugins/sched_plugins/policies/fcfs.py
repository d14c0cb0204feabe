"""First come, first served."""

import attrs

from sched_core import hookimpl


@attrs.define(eq=False)
class Fcfs:
    """First come, first served; the default.

    Rule: requests wait in order of arrival, then submission; a head that does not fit blocks
    those behind it, and the latest arrival is the victim. It is vLLM's `policy="fcfs"`.
    Fails by: head-of-line blocking. One long request makes all behind it wait.
    """

    priority_moves = "static"

    @hookimpl
    def effective_priority(self) -> float:
        return 0.0
