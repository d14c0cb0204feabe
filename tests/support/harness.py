"""Small runs in the notation of the case collection, one second a step."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from hwmodels.constant import Constant
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.engine.servable import refusal
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.limits import NANOSECONDS
from sched_core.metrics.recorder import STATES, Recorder
from sched_core.metrics.summary import request_records, summarize
from sched_core.policy.stack import Policy
from sched_core.watchers.decision_trace import DecisionTrace
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec, SharedPrefix

_REQUEST = re.compile(r"(\w+)\((\d+),(\d+),@([\d.]+)(?:,(-?\d+))?\)")


def requests(text: str) -> list[RequestSpec]:
    """`id(prompt,output,@arrival,priority)` separated by blanks."""
    found = [_REQUEST.fullmatch(part) for part in text.split()]
    assert all(found), text
    return [
        RequestSpec(m[1], float(m[4]), int(m[2]), int(m[3]), int(m[5] or 0)) for m in found if m
    ]


def aborting(text: str, **times: float) -> list[RequestSpec]:
    """The same, each given up by its client at the time named."""
    return [attrs.evolve(spec, abort=times.get(spec.id)) for spec in requests(text)]


@attrs.frozen
class Served:
    """What a run decided, step by step, and each request's final row by id."""

    engine: Engine
    lines: list[dict[str, Any]]
    rows: dict[str, dict[str, Any]]

    def at(self, time: float) -> dict[str, Any]:
        """The decision of the step that started at `time`."""
        (line,) = [line for line in self.lines if line["time"] == time]
        return line

    def first_scheduled(self, name: str) -> float:
        return float(self.rows[name]["first_scheduled_ns"] / NANOSECONDS)

    def finish(self, name: str) -> float:
        return float(self.rows[name]["finish_ns"] / NANOSECONDS)

    @property
    def finishes(self) -> dict[str, float]:
        return {name: self.finish(name) for name in self.rows}


class Seen(Watcher):
    """Calls a function with the record of every step."""

    single_steps = True

    def __init__(self, see: Callable[[StepRecord], object]) -> None:
        self._see = see

    def stepped(self, record: StepRecord) -> None:
        self._see(record)


def config_of(settings: Mapping[str, Any]) -> EngineConfig:
    """The case collection's defaults: T=256, S=256 (or T where that is smaller), B=16."""
    return EngineConfig(**{"max_num_batched_tokens": 256, "num_gpu_blocks": 100, **settings})


def serve(
    specs: str | Sequence[RequestSpec],
    policy: str | Policy = "fcfs",
    *,
    watcher: Watcher | None = None,
    seed: int = 0,
    max_concurrency: int | None = None,
    horizon: float | None = None,
    hardware: Constant | None = None,
    **settings: Any,
) -> Served:
    """Run requests under a policy and an engine configuration."""
    lines: list[dict[str, Any]] = []

    watchers: list[Watcher] = [DecisionTrace(lines.append)]
    watchers += [watcher] if watcher else []
    listed = requests(specs) if isinstance(specs, str) else list(specs)
    config = config_of(settings)
    engine = Engine(
        config,
        Policy.from_spec(policy) if isinstance(policy, str) else policy,
        (hardware or Constant(step=1.0)).executor(None, block_size=config.block_size),
        Workload(listed, max_concurrency=max_concurrency),
        seed=seed,
        horizon=horizon,
        watchers=watchers,
    )
    recorder = engine.run()
    columns = recorder.columns()
    rows = {
        name: {key: int(column[row]) for key, column in columns.items()}
        for row, name in enumerate(recorder.ids_in_order())
    }
    reasons = list(recorder.reasons)
    for row in rows.values():
        row["state"] = STATES[row["state"]].value
        row["reason"] = reasons[row["reason"]] if row["reason"] >= 0 else None
    return Served(engine, lines, rows)


def summary(served: Served, **options: Any) -> dict[str, Any]:
    """The figures of a run."""
    return summarize(
        served.engine.recorder, num_blocks=served.engine.state.kv.num_blocks, **options
    )


def records(served: Served) -> dict[str, dict[str, Any]]:
    """The records of its requests, by id."""
    return {record["id"]: record for record in request_records(served.engine.recorder)}


def everything(recorder: Recorder) -> dict[str, object]:
    """All that a run left behind, to be compared."""
    return {
        name: value.tobytes() if name.startswith("_") else value
        for name, value in vars(recorder).items()
    }


def servable(specs: Sequence[RequestSpec], config: EngineConfig) -> bool:
    """Can any of the requests be served? (The engine refuses a workload of which none can.)"""
    return any(refusal(spec, config) is None for spec in specs)


def spec_of(row: Mapping[str, Any]) -> RequestSpec:
    """A request of a golden file."""
    prefix = row.get("shared_prefix")
    return RequestSpec(
        row["id"],
        float(row["arrival_step"]),
        row["prompt_len"],
        row["output_len"],
        row.get("priority", 0),
        prefix=SharedPrefix(**prefix) if prefix else None,
    )
