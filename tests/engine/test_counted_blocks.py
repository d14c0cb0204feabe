"""Blocks that are only counted, as nobody reads which they are, are seen as if they were held."""

import numpy as np
import pytest

from hwmodels.roofline.gpus import A100
from sched_core.config import EngineConfig
from sched_core.engine.engine import Engine
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.metrics.summary import request_records
from sched_core.policy.stack import Policy
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

EXECUTOR = A100().executor("llama-3-8b", block_size=16)


class Looks(Watcher):
    """Sees block ids, so that tables are real."""

    def stepped(self, record: StepRecord) -> None:
        assert record.plan.scheduled or record.plan.preemptions


@pytest.mark.parametrize(
    "policy",
    ["fcfs", "fcfs+cost-aware", "fcfs+largest-kv", "priority+largest-kv+swap", "fcfs+adaptive"],
)
@pytest.mark.parametrize("leaps", [False, True])
def test_victims_are_the_same_whether_or_not_tables_are_real(policy: str, leaps: bool) -> None:
    """In the step in which a request takes a block it counts among those that it would free."""
    rng = np.random.default_rng(0)
    specs = [
        RequestSpec(f"r{i}", i / 99, int(rng.integers(1, 60)), int(rng.integers(20, 200)))
        for i in range(100)
    ]
    runs = []
    for watchers in ([], [Looks()]):
        engine = Engine(
            EngineConfig(num_gpu_blocks=60, num_cpu_blocks=100),
            Policy.from_spec(policy),
            EXECUTOR,
            Workload(specs),
            watchers=watchers,
            leaps=leaps,
        )
        assert engine.state.kv.by_count == (not watchers)
        runs.append(list(request_records(engine.run())))
    assert runs[0] == runs[1]
    assert sum(record["preemptions"] for record in runs[0]) > 20
