"""How long the steps of a run took, one JSON line each: enough to run it again in simulation.

The first line holds what the decisions depended on besides: the pool's size and the costs that
policies may have asked for. `--replay-times FILE` reads it, by hardware `recorded`.
"""

import json
from collections.abc import Callable

from sched_core.config import EngineConfig
from sched_core.execution.executor import Costs, record_of
from sched_core.execution.step_record import StepRecord, Watcher


class StepTimes(Watcher):
    """Writes each executed step's load and nanoseconds."""

    single_steps = True

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def started(self, config: EngineConfig, costs: Costs) -> None:
        self._line(
            {
                "num_gpu_blocks": config.num_gpu_blocks,
                "max_model_len": config.max_model_len,
                "costs": record_of(costs),
            }
        )

    def stepped(self, record: StepRecord) -> None:
        plan = record.plan
        if any(plan.load):
            self._line({"step": plan.step, "ns": record.durations_ns[0], "load": list(plan.load)})

    def _line(self, value: object) -> None:
        self._write(json.dumps(value, separators=(",", ":")) + "\n")
