"""A few requests under a policy, on an engine that takes one second for each step."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from sched_core import EngineConfig, RequestSpec, Scenario, StepRecord, Watcher, Workload, simulate

USUAL = {"max_num_batched_tokens": 256, "num_gpu_blocks": 100}


@attrs.frozen
class SmallRun:
    """What became of it."""

    requests: dict[str, dict[str, Any]]
    """Their records by id, as in a report: `run.requests["a"]["finish"]`, in seconds."""
    steps: list[dict[str, int]]
    """For each step that was run, the tokens of each request in it, by id."""
    summary: dict[str, Any]
    """As in a report: `run.summary["preemptions"]`."""


def run(
    policy: object, requests: Iterable[RequestSpec | Mapping[str, Any]], **config: Any
) -> SmallRun:
    """Run to the end; whatever the policy does wrong is raised.

    `policy` is what `compare` takes. A request is a RequestSpec, or its fields by name:
    `{"id": "a", "arrival": 0, "prompt_len": 16, "output_len": 4}`. `config` is laid over 256 tokens
    a step and 100 blocks: `max_num_seqs=1`.
    """
    specs = [each if isinstance(each, RequestSpec) else RequestSpec(**each) for each in requests]
    scenario = Scenario(
        policy=policy,
        hardware="schedfw/constant:step=1",
        model=None,
        workload=Workload(specs),
        config=EngineConfig(**{**USUAL, **config}),
    )
    shares = _Shares()
    (result,) = simulate(scenario, watchers=[shares]).results
    records = {record["id"]: record for record in result.requests}
    return SmallRun(records, shares.steps, result.summary)


class _Shares(Watcher):
    single_steps = True

    def __init__(self) -> None:
        self.steps: list[dict[str, int]] = []

    def stepped(self, record: StepRecord) -> None:
        self.steps.append(dict(record.plan.num_scheduled_tokens))
