"""Whose memory is taken when a running request lacks blocks: one rule a class.

All leave a waiting beneficiary to the engine's default, which is nobody. Progress: whatever the
rule, one running request must be safe until it is done, or two could evict each other for ever.
"""

import attrs

from sched_core import RequestView, SchedulerView, hookimpl, toolbox


@attrs.define(eq=False)
class Youngest:
    """Victim: the last to arrive.

    Rule: latest arrival, then latest submission. The engine's default under fcfs (vLLM).
    Progress: the oldest is never taken.
    Fails by: in another order than fcfs the youngest may have computed most.
    """

    admission_moves = "event"
    yields_to = "running"

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        return max(view.running, key=toolbox.by_arrival) if beneficiary.is_running else None


@attrs.define(eq=False)
class Oldest:
    """Victim: the first to arrive. A baseline to beat.

    Rule: earliest arrival, then earliest submission.
    Progress: the youngest is never taken, so everything ends once arrivals end.
    Fails by: under lasting load an old request loses its place time and again, and it is the one
    with most to compute again.
    """

    starves = "the oldest, evicted again and again under lasting load"
    admission_moves = "event"
    yields_to = "running"

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        return min(view.running, key=toolbox.by_arrival) if beneficiary.is_running else None


@attrs.define(eq=False)
class FewestComputed:
    """Victim: fewest computed tokens.

    Rule: fewest computed tokens, then latest arrival, among all running but the oldest.
    Source: least-computed-first, vLLM RFC 54644 (there without a spared request).
    Progress: the oldest is never taken.
    Fails by: many small evictions. Each frees little memory, so the next follows soon.
    """

    admission_moves = "event"
    yields_to = "running"

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        if not beneficiary.is_running:
            return None
        return min(toolbox.expendable(view), key=lambda request: request.num_computed_tokens)


@attrs.define(eq=False)
class FewestRemaining(toolbox.OwnHistory):
    """Victim: fewest predicted tokens left.

    Rule: smallest predicted output - emitted tokens (at least 1), then latest arrival, among all
    running but the oldest. The prediction is the stack's, or its own `predict-history`.
    Parameters: `prior`, tokens predicted before anything has finished.
    Progress: the oldest is never taken.
    Fails by: taking memory from those about to give it back, after most of their work is done.
    """

    admission_moves = "event"
    yields_to = "running"

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        if not beneficiary.is_running:
            return None
        return min(toolbox.expendable(view), key=self.remaining)


@attrs.define(eq=False)
class LargestKv:
    """Victim: most blocks freed.

    Rule: most blocks that nobody shares, then latest arrival, among all running but the oldest.
    Progress: the oldest is never taken.
    Fails by: throwing away the most computation; long requests suffer.
    """

    admission_moves = "event"
    yields_to = "running"

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        return max(toolbox.expendable(view), key=view.freed_by) if beneficiary.is_running else None


@attrs.define(eq=False)
class LowestPriority:
    """Victim: least urgent by the client's priority.

    Rule: largest `priority`, then latest arrival, then latest submission: vLLM's under
    `policy="priority"`, here for any order of the queue.
    Progress: the order never changes, so its first is never taken.
    Fails by: starvation of low priorities, whose work is also done twice.
    """

    admission_moves = "event"
    yields_to = "running"

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        if not beneficiary.is_running:
            return None
        return max(view.running, key=lambda r: (r.priority, *toolbox.by_arrival(r)))
