"""Policies x seeds over a scenario: everything is checked before anything runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

import attrs

from sched_core import catalogue
from sched_core.config import EngineConfig
from sched_core.engine import Engine, Watcher
from sched_core.errors import InputError, PluginLoadError
from sched_core.executor import Capacity, Executor, Hardware
from sched_core.metrics import request_records, summarize
from sched_core.pairing import Difference, differences
from sched_core.policy import Policy
from sched_core.records import Recorder
from sched_core.scenario import Scenario
from sched_core.workload import Workload, WorkloadSource

SCHEMA = 1
"""Version of `Report.document`."""


@attrs.frozen(kw_only=True)
class Result:
    """What one policy made of one workload."""

    policy: str
    seed: int
    oracle: bool
    """Did a component see the true output lengths?"""
    components: dict[str, list[str]]
    """Hook -> the components that answered it."""
    summary: dict[str, Any]
    recorder: Recorder = attrs.field(repr=False)

    @property
    def requests(self) -> list[dict[str, Any]]:
        """One record per request, in order of submission."""
        return request_records(self.recorder)

    def document(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "policy": self.policy,
            "seed": self.seed,
            "oracle": self.oracle,
            "components": self.components,
            "summary": self.summary,
            "requests": self.requests,
        }


@attrs.frozen(kw_only=True)
class Report:
    """Results that share a setting: policies in the order given, the seeds of each in a row."""

    setting: dict[str, Any]
    results: list[Result]

    @property
    def summaries(self) -> dict[str, list[dict[str, Any]]]:
        """Policy -> its summaries, one per seed."""
        found: dict[str, list[dict[str, Any]]] = {}
        for result in self.results:
            found.setdefault(result.policy, []).append(result.summary)
        return found

    def differences(self) -> list[Difference]:
        """Of every other policy to the first one, paired by seed."""
        return differences(self.summaries)

    def document(self) -> dict[str, Any]:
        """All of it as plain JSON values, the same for `run` and `compare`.

        With several seeds a policy has one entry per seed, and `differences` are there too.
        """
        paired = self.setting["seeds"] > 1
        return {
            "schema": SCHEMA,
            "setting": self.setting,
            "policies": [result.document() for result in self.results],
            **({"differences": [attrs.asdict(d) for d in self.differences()]} if paired else {}),
        }


@attrs.frozen(kw_only=True)
class Run:
    """One policy on one workload: all that a worker process needs."""

    policy: str
    seed: int
    scenario: Scenario
    config: EngineConfig
    """With the pool's size filled in."""
    hardware: Hardware
    block_bytes: int
    workload: Workload

    def engine(self, watch: Watcher | None = None) -> Engine:
        """A fresh engine; raises InputError where the workload cannot be served."""
        return Engine(
            self.config,
            Policy.from_spec(self.policy),
            self.hardware.executor(self.scenario.model, block_size=self.config.block_size),
            self.workload,
            seed=self.seed,
            horizon=self.scenario.horizon,
            watch=watch,
        )

    def execute(self, watch: Watcher | None = None) -> Result:
        """Run it to its end."""
        engine = self.engine(watch)
        recorder = engine.run()
        policy = engine.state.policy
        return Result(
            policy=self.policy,
            seed=self.seed,
            oracle=policy.oracle,
            components=policy.answered(),
            summary=summarize(
                recorder,
                num_blocks=self.config.num_gpu_blocks or 0,
                block_bytes=self.block_bytes,
                goodput=self.scenario.goodput,
            ),
            recorder=recorder,
        )


def simulate(scenario: Scenario, *, watch: Watcher | None = None) -> Report:
    """Run the scenario's own policy; `watch` is called after every step.

    Raises UsageError before anything runs, PolicyError or NoProgress from the run.
    """
    setting, (run,) = plan(scenario, [scenario.policy])
    return Report(setting=setting, results=[run.execute(watch)])


def compare(
    scenario: Scenario,
    policies: Sequence[str],
    *,
    seeds: int = 1,
    jobs: int = 1,
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Run each of `policies` on the same workloads: those of `seeds` seeds from the scenario's on.

    `jobs` processes (-1: one per core) give the same results as one. `on_result` is called in
    order. Raises UsageError before anything runs, PolicyError or NoProgress from a run.
    """
    setting, runs = plan(scenario, policies, seeds)
    results = []
    for result in _executed(runs, jobs):
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(setting=setting, results=results)


def _executed(runs: Iterable[Run], jobs: int) -> Iterator[Result]:
    if jobs == 1:
        return map(Run.execute, runs)
    from joblib import Parallel, delayed  # loads slowly

    answer: Iterator[Result] = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(Run.execute)(run) for run in runs
    )
    return answer


def plan(
    scenario: Scenario, policies: Sequence[str], seeds: int = 1
) -> tuple[dict[str, Any], list[Run]]:
    """(the setting, the runs: policy by policy, seed by seed), all checked."""
    _check_choice(policies, seeds)
    hardware = _plugin("hardware", scenario.hardware, Hardware)
    executor = hardware.executor(scenario.model, block_size=scenario.config.block_size)
    capacity = executor.capacity(
        block_size=scenario.config.block_size,
        gpu_memory_utilization=scenario.config.gpu_memory_utilization,
        max_num_batched_tokens=scenario.config.max_num_batched_tokens,
    )
    config = _filled(scenario, capacity)
    chosen = range(scenario.seed, scenario.seed + seeds)
    workloads = {seed: _workload(scenario, seed) for seed in chosen}
    runs = [
        Run(
            policy=policy,
            seed=seed,
            scenario=scenario,
            config=config,
            hardware=hardware,
            block_bytes=capacity.block_bytes,
            workload=workloads[seed],
        )
        for policy in policies
        for seed in chosen
    ]
    for run in runs[:seeds]:
        run.engine()  # refuses what cannot be served
    return _setting(runs[0], executor, seeds), runs


def _check_choice(policies: Sequence[str], seeds: int) -> None:
    if seeds < 1:
        raise InputError("out of range", field="seeds", value=seeds, expected="at least 1")
    if not policies:
        raise InputError("no policy given", field="policies", expected="names such as fcfs")
    for policy in policies:
        if policies.count(policy) > 1:
            raise InputError("a policy is given twice", field="policies", value=policy)
        Policy.from_spec(policy)


def _plugin(kind: str, spec: str, contract: type) -> Any:
    component = catalogue.build(kind, spec)
    if not isinstance(component, contract):
        raise PluginLoadError(
            f"{spec!r} of group schedfw.{kind} does not keep the contract {contract.__name__}"
        )
    return component


def _filled(scenario: Scenario, capacity: Capacity) -> EngineConfig:
    blocks = scenario.config.num_gpu_blocks or capacity.num_gpu_blocks
    if blocks is None:
        raise InputError(
            f"hardware {scenario.hardware!r} has no memory that says how many KV blocks fit",
            field="num_gpu_blocks",
            expected="a number of blocks in the engine configuration, such as 1000",
        )
    return scenario.config.with_capacity(blocks, capacity.max_model_len)


def _workload(scenario: Scenario, seed: int) -> Workload:
    if isinstance(scenario.workload, Workload):
        return scenario.workload
    built: Workload = _plugin("workloads", scenario.workload, WorkloadSource).build(seed)
    return built


def _setting(run: Run, executor: Executor, seeds: int) -> dict[str, Any]:
    """What makes the results repeatable."""
    scenario, workload, hardware = run.scenario, run.workload, executor.describe()
    return {
        "schedfw": version("schedfw"),
        "workload": {
            "spec": None if scenario.workload is workload else scenario.workload,
            "requests": len(workload.requests),
            "dropped": {why: count for why, count in workload.dropped.items() if count},
            **workload.description,
        },
        "hardware": {"spec": scenario.hardware, **hardware},
        "model": hardware.get("model"),
        "block_bytes": run.block_bytes,
        "config": attrs.asdict(run.config),
        "seed": scenario.seed,
        "seeds": seeds,
        "horizon": scenario.horizon,
        "goodput": dict(scenario.goodput),
    }
