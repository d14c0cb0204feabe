"""Runs in leaps and step by step, to be compared."""

from collections.abc import Callable, Sequence

import attrs

from hwmodels.roofline.gpus import A100
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

EXECUTOR = A100().executor("llama-3-8b", block_size=16)


def recorded(
    specs: list[RequestSpec],
    config: EngineConfig,
    policy: str | Callable[[], object],
    *,
    leaps: bool,
    horizon: float,
    watchers: Sequence[Watcher] = (),
) -> tuple[Recorder, int]:
    engine = Engine(
        config,
        Policy.from_spec(policy) if isinstance(policy, str) else Policy([("it", policy())]),
        EXECUTOR,
        Workload(specs),
        horizon=horizon,
        watchers=watchers,
        leaps=leaps,
    )
    advances = 1
    while engine.advance():
        advances += 1
    engine.close()
    return engine.recorder, advances


class Looks(Watcher):
    """Does nothing else."""

    def stepped(self, record: StepRecord) -> None:
        assert record.repeats > 0


def crowd(specs: list[RequestSpec]) -> list[RequestSpec]:
    """Everyone comes at once, and outputs are long, so that many wait."""
    return [
        attrs.evolve(spec, arrival=spec.arrival / 1e3, output_len=3 * spec.output_len)
        for spec in specs
    ]
