"""A run again, in the times that its steps took: from the file of `run --record-times`."""

from collections.abc import Mapping
from typing import Any

import attrs

from hwmodels.measured.linear_costs import LinearCosts
from hwmodels.validators import positive_int
from sched_core import (
    Capacity,
    InputError,
    SchedfwError,
    StepLoad,
    StepOutcome,
    StepPlan,
    configure,
    files,
    limits,
)


@attrs.frozen(kw_only=True)
class Replay:
    """Every step lasts as long as it did when the run was recorded; another step is an error."""

    path: str = attrs.field(
        validator=limits.text,
        metadata={"about": "file written by run --record-times", "file": True},
    )

    def executor(self, model: str | None, *, block_size: int) -> "ReplayExecutor":
        """The model is as recorded. Raises InputError where the file cannot be used."""
        rows = files.read_json_lines(self.path)
        row, keys = next(rows, (1, None))
        if keys is None:
            raise InputError("is empty", file=self.path, expected="a record of step times")
        where = f"{self.path}, line {row}"
        head = configure(_Head, keys, where=where)
        return ReplayExecutor(
            self.path,
            Capacity(head.num_gpu_blocks, head.max_model_len),
            LinearCosts.from_record(head.costs, f"{where}, costs"),
            dict(_step(keys, f"{self.path}, line {row}") for row, keys in rows),
        )


@attrs.frozen(kw_only=True)
class _Head:
    """The first line: what the decisions depended on besides times."""

    num_gpu_blocks: int = attrs.field(validator=positive_int)
    max_model_len: int | None
    costs: dict[str, Any]


def _as_long_as_a_load(_: object, field: "attrs.Attribute[list[int]]", value: list[int]) -> None:
    if len(value) != len(StepLoad._fields):
        expected = ", ".join(StepLoad._fields)
        raise InputError("is no load", field=field.name, value=value, expected=expected)


@attrs.frozen(kw_only=True)
class _Step:
    """Every other line."""

    step: int
    ns: int = attrs.field(validator=positive_int)
    load: list[int] = attrs.field(validator=_as_long_as_a_load)


def _step(keys: Mapping[str, Any], where: str) -> tuple[int, tuple[StepLoad, int]]:
    found: _Step = configure(_Step, keys, where=where)
    return found.step, (StepLoad(*found.load), found.ns)


@attrs.frozen
class ReplayExecutor:
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
