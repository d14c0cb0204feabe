"""How long the steps of a run took, one JSON line each: enough to run it again in simulation.

The first line holds what the decisions depended on besides: the pool's size and the costs that
policies may have asked for. `--replay-times FILE` reads it, by hardware `recorded`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sched_core.engine.engine import Watcher
from sched_core.execution.executor import record_of
from sched_core.execution.plan import StepPlan
from sched_core.request import Request
from sched_core.scheduler.state import SchedulerState


def recorder(write: Callable[[str], object]) -> Watcher:
    """A watcher for `Engine` that writes each executed step's load and nanoseconds."""
    started = False

    def watch(
        plan: StepPlan, state: SchedulerState, _: list[Request], __: Mapping[str, str]
    ) -> None:
        nonlocal started
        if not started:
            started = True
            write(_line(_head(state)))
        if any(plan.load):
            taken = state.now_ns - plan.time_ns
            write(_line({"step": plan.step, "ns": taken, "load": list(plan.load)}))

    return watch


def _head(state: SchedulerState) -> dict[str, Any]:
    return {
        "num_gpu_blocks": state.config.num_gpu_blocks,
        "max_model_len": state.config.max_model_len,
        "costs": record_of(state.costs),
    }


def _line(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"
