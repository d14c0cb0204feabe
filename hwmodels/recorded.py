"""A run again, in the times that its steps took: from the file of `run --record-times`."""

import json
from pathlib import Path
from typing import Any

import attrs

from hwmodels.linear_costs import LinearCosts
from sched_core import (
    Capacity,
    InputError,
    SchedfwError,
    StepLoad,
    StepOutcome,
    StepPlan,
    configure,
)


@attrs.frozen(kw_only=True)
class Recorded:
    """Every step lasts as long as it did when the run was recorded; another step is an error."""

    path: str = attrs.field(metadata={"about": "file written by run --record-times"})

    def executor(self, model: str | None, *, block_size: int) -> "RecordedExecutor":
        """The model is as recorded. Raises InputError where the file cannot be used."""
        path = Path(self.path)
        head, *steps = _rows(path)
        try:
            return RecordedExecutor(
                self.path,
                Capacity(head["num_gpu_blocks"], head["max_model_len"]),
                configure(LinearCosts, head["costs"], where=f"{path}, line 1, costs"),
                {row["step"]: (StepLoad(*row["load"]), row["ns"]) for row in steps},
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"is no record of step times: {error}", file=path) from None


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except ValueError as error:
        raise InputError(f"is not JSON lines: {error}", file=path) from None
    if not rows:
        raise InputError("is empty", file=path, expected="a record of step times")
    return rows


@attrs.frozen
class RecordedExecutor:
    """Gives back recorded durations, step by step."""

    path: str
    memory: Capacity
    costs: LinearCosts
    steps: dict[int, tuple[StepLoad, int]]

    def execute(self, plan: StepPlan) -> StepOutcome:
        """Raises SchedfwError where the step is not the one that was recorded."""
        load, nanoseconds = self.steps.get(plan.step, (None, 0))
        if load != plan.load:
            raise SchedfwError(
                f"step {plan.step} is not the recorded one: it holds {plan.load}, and {self.path} "
                f"has {load or 'no such step'}; replay with the recorded run's own settings"
            )
        return StepOutcome(nanoseconds / 1e9)

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity:
        """The pool of the recorded run."""
        return self.memory

    def describe(self) -> dict[str, object]:
        return {"hardware": "recorded", "path": self.path, "steps": len(self.steps)}
