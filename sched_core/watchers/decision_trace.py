"""Decision traces: one JSON line per step, in the form of the golden traces of vLLM."""

import json
from collections.abc import Callable
from typing import Any

from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.limits import NANOSECONDS


def decision(record: StepRecord) -> dict[str, Any]:
    """What a step decided; `running`, `waiting` and `free_blocks` as it left them."""
    plan = record.plan
    return {
        "step": plan.step,
        "time": plan.time_ns / NANOSECONDS,
        "scheduled": plan.num_scheduled_tokens,
        "admitted": plan.admitted,
        "resumed": sorted(plan.resumed_req_ids),  # a set in vLLM
        "preempted": list(plan.preempted_req_ids),
        "swapped_out": [swap.id for swap in plan.swapped_out],
        "swapped_in": [swap.id for swap in plan.swapped_in],
        "finished": list(record.finished),
        "rejected": dict(record.rejected),
        "running": list(record.running or ()),
        "waiting": list(record.waiting or ()),
        "free_blocks": record.free_blocks,
    }


class DecisionTrace(Watcher):
    """Keeps, or hands on, the decision of each step."""

    single_steps = True
    queues = True

    def __init__(self, keep: Callable[[dict[str, Any]], object]) -> None:
        self._keep = keep

    @classmethod
    def written(cls, write: Callable[[str], object]) -> "DecisionTrace":
        """Each decision as one JSON line."""
        return cls(lambda line: write(json.dumps(line, separators=(",", ":")) + "\n"))

    def stepped(self, record: StepRecord) -> None:
        self._keep(decision(record))
