"""The victim that costs the least computation per block of memory it frees."""

import math

import attrs
from attrs.validators import ge, lt

from sched_core import RequestView, SchedulerView, hookimpl, toolbox


@attrs.define(eq=False)
class CostAware:
    """Victim: least recompute time per block freed.

    Rule: smallest `recompute seconds * (1 + penalty * earlier preemptions) / blocks freed`, then
    latest arrival, among all running but the oldest. The seconds are the hardware model's, for
    the computed tokens beside the decodes that run now; blocks that others share free nothing.
    Parameters: `penalty`, how much dearer each earlier preemption makes a request, as a share of
    its cost; 0 forgets them.
    Source: vLLM PR 56897 (blocks reclaimed per token recomputed), with seconds for tokens.
    Progress: the oldest is never taken.
    Fails by: being as good as the hardware model; where recomputing is free all cost the same.
    """

    admission_moves = "event"
    yields_to = "running"

    penalty: float = attrs.field(default=1.0, validator=[ge(0), lt(math.inf)])

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        if not beneficiary.is_running:
            return None
        load, recompute, freed_by = view.load, view.costs.recompute, view.freed_by

        def price(request: RequestView) -> float:
            freed = freed_by(request)
            if not freed:
                return math.inf
            seconds = recompute(request.num_computed_tokens, load)
            return seconds * (1 + self.penalty * request.num_preemptions) / freed

        return min(toolbox.expendable(view), key=price)
