"""Decision traces: one JSON line per step, in the form of the golden traces of vLLM."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sched_core.execution.plan import StepPlan
from sched_core.limits import NANOSECONDS
from sched_core.request import Request
from sched_core.scheduler.state import SchedulerState


def decision(
    plan: StepPlan, state: SchedulerState, finished: list[Request], rejected: Mapping[str, str]
) -> dict[str, Any]:
    """What a step decided; `running`, `waiting` and `free_blocks` as it left them."""
    return {
        "step": plan.step,
        "time": plan.time_ns / NANOSECONDS,
        "scheduled": {request.id: tokens for request, tokens in plan.scheduled()},
        "admitted": {request.id: cached for request, cached in plan.admitted.items()},
        "resumed": sorted(request.id for request in plan.resumed),  # a set in vLLM
        "preempted": [request.id for request in plan.preempted],
        "swapped_out": [swap.id for swap in plan.swapped_out],
        "swapped_in": [swap.id for swap in plan.swapped_in],
        "finished": [request.id for request in finished],
        "rejected": dict(rejected),
        "running": [request.id for request in state.running],
        "waiting": [request.id for request in state.waiting.ordered()],
        "free_blocks": state.kv.free_blocks,
    }


def writer(write: Callable[[str], object]) -> Callable[..., None]:
    """A watcher for `Engine` that writes each decision as one JSON line."""

    def watch(*step: Any) -> None:
        write(json.dumps(decision(*step), separators=(",", ":")) + "\n")

    return watch
