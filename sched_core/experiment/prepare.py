"""From a scenario to runs that can start: names looked up, numbers filled in, workloads built."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import attrs

from sched_core.catalogue import specs
from sched_core.config import Batching, EngineConfig
from sched_core.engine.engine import Engine
from sched_core.errors import InputError, PluginLoadError
from sched_core.execution.executor import Capacity, Executor
from sched_core.execution.hardware import Hardware
from sched_core.execution.step_record import Watcher
from sched_core.experiment.scenario import Scenario
from sched_core.metrics.summary import summarize
from sched_core.policy.stack import Policy
from sched_core.reports.report import Result
from sched_core.scheduler.batching import refuse_unpaid
from sched_core.workload.source import Workload, WorkloadSource


@attrs.frozen(kw_only=True)
class Run:
    """One policy on one workload: all that a worker process needs."""

    scenario: Scenario
    """With this run's policy and seed, and the size of the pool filled in."""
    hardware: Hardware
    block_bytes: int
    workload: Workload
    label: str
    """Its column: the policy, and the batching mode where several are compared."""

    def engine(self, watchers: Sequence[Watcher] = (), *, leaps: bool = True) -> Engine:
        """A fresh engine; raises InputError where the workload cannot be served."""
        scenario = self.scenario
        return Engine(
            scenario.config,
            Policy.from_spec(scenario.policy),
            self.hardware.executor(scenario.model, block_size=scenario.config.block_size),
            self.workload,
            seed=scenario.seed,
            horizon=scenario.horizon,
            watchers=watchers,
            leaps=leaps,
        )

    def execute(self, watchers: Sequence[Watcher] = ()) -> Result:
        """Run it to its end."""
        engine = self.engine(watchers)
        recorder, policy = engine.run(), engine.state.policy
        return Result(
            label=self.label,
            policy=specs.shown_stack(self.scenario.policy),
            batching=self.scenario.config.batching,
            seed=self.scenario.seed,
            oracle=policy.oracle,
            components=policy.answered(),
            summary=summarize(
                recorder,
                num_blocks=engine.state.kv.num_blocks,
                block_bytes=self.block_bytes,
                goodput=self.scenario.goodput,
            ),
            recorder=recorder,
        )


def plan(
    scenario: Scenario,
    policies: Sequence[str],
    seeds: int = 1,
    batching: Sequence[Batching] = (),
) -> tuple[dict[str, Any], list[Run]]:
    """(the setting, the runs: policy by policy, mode by mode, seed by seed), all checked.

    `batching` are the modes to compare; by default only the scenario's own.
    """
    _check_choice(policies, seeds)
    modes = list(batching) or [scenario.config.batching]
    hardware = _plugin("hardware", scenario.hardware, Hardware)
    executor = hardware.executor(scenario.model, block_size=scenario.config.block_size)
    for mode in modes:
        refuse_unpaid(executor, mode)
    capacity = _capacity(executor, scenario.config)
    ready = attrs.evolve(scenario, config=_filled(scenario, capacity))
    chosen = range(scenario.seed, scenario.seed + seeds)
    workloads = {seed: _workload(scenario, seed) for seed in chosen}
    runs = [
        Run(
            scenario=attrs.evolve(
                ready, policy=policy, seed=seed, config=attrs.evolve(ready.config, batching=mode)
            ),
            hardware=hardware,
            block_bytes=capacity.block_bytes,
            workload=workloads[seed],
            label=specs.shown_stack(policy) + (f" ({mode})" if len(modes) > 1 else ""),
        )
        for policy in policies
        for mode in modes
        for seed in chosen
    ]
    for run in runs[:seeds]:
        _check_workload(run)
    return _setting(runs[0], executor, seeds, modes), runs


def _capacity(executor: Executor, config: EngineConfig) -> Capacity:
    return executor.capacity(
        block_size=config.block_size,
        gpu_memory_utilization=config.gpu_memory_utilization,
        max_num_batched_tokens=config.max_num_batched_tokens,
    )


def _check_workload(run: Run) -> None:
    try:
        run.engine()
    except InputError as error:
        named = specs.shown(str(run.scenario.workload))
        place = run.workload.description.get("path") or f"workload {named!r}"
        raise InputError(f"{place}: {error}") from None


def _check_choice(policies: Sequence[str], seeds: int) -> None:
    if seeds < 1:
        raise InputError("out of range", field="seeds", value=seeds, expected="at least 1")
    if not policies:
        raise InputError("no policy given", field="policies", expected="names such as fcfs")
    names = [specs.shown_stack(policy) for policy in policies]
    for policy, name in zip(policies, names, strict=True):
        if names.count(name) > 1:
            raise InputError("a policy is given twice", field="policies", value=policy)
        Policy.from_spec(policy)


def _plugin(kind: str, spec: str, contract: type) -> Any:
    component = specs.build(kind, spec)
    if not isinstance(component, contract):
        raise PluginLoadError(
            f"{spec!r} of group schedfw.{kind} does not keep the contract {contract.__name__}"
        )
    return component


def _filled(scenario: Scenario, capacity: Capacity) -> EngineConfig:
    blocks = scenario.config.num_gpu_blocks or capacity.num_gpu_blocks
    if blocks is None:
        raise InputError(
            f"hardware {specs.shown(scenario.hardware)!r} has no memory that says how many KV "
            "blocks fit",
            field="num_gpu_blocks",
            expected="a number of blocks in the engine configuration, such as 1000",
        )
    return scenario.config.with_capacity(blocks, capacity.max_model_len)


def _workload(scenario: Scenario, seed: int) -> Workload:
    if isinstance(scenario.workload, Workload):
        return scenario.workload
    built: Workload = _plugin("workloads", scenario.workload, WorkloadSource).build(seed)
    return built


def _spec(workload: str | Workload) -> str | None:
    return None if isinstance(workload, Workload) else specs.shown(workload)


def _setting(run: Run, executor: Executor, seeds: int, modes: Sequence[Batching]) -> dict[str, Any]:
    """What makes the results repeatable."""
    scenario, workload, hardware = run.scenario, run.workload, executor.describe()
    return {
        "schedfw": version("schedfw"),
        "workload": {
            "spec": _spec(scenario.workload),
            "requests": len(workload.requests),
            "dropped": {why: count for why, count in workload.dropped.items() if count},
            **workload.description,
        },
        "hardware": {"spec": specs.shown(scenario.hardware), **hardware},
        "model": hardware.get("model"),
        "block_bytes": run.block_bytes,
        "config": attrs.asdict(scenario.config),
        "batching": list(modes),
        "seed": scenario.seed,
        "seeds": seeds,
        "horizon": scenario.horizon,
        "goodput": dict(scenario.goodput),
    }
