"""From a scenario to runs that can start: names looked up, numbers filled in, workloads built."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from typing import Any, Self

import attrs

from sched_core.catalogue import specs
from sched_core.config import Batching, EngineConfig
from sched_core.engine.engine import Engine
from sched_core.engine.servable import refuse_unservable
from sched_core.errors import InputError
from sched_core.execution.executor import Capacity, Executor, modelled
from sched_core.execution.hardware import Hardware
from sched_core.execution.step_record import Watcher
from sched_core.experiment import contents
from sched_core.experiment.cell import Cell
from sched_core.experiment.named import named_hardware, named_source
from sched_core.experiment.scenario import Scenario
from sched_core.metrics.goodput import check_classes
from sched_core.policy.stack import Policy
from sched_core.reports.report import Result
from sched_core.scheduler.batching import refuse_unpaid
from sched_core.workload.further import further_of
from sched_core.workload.source import Workload


@attrs.frozen(kw_only=True)
class Prepared:
    """Runs of this process, all checked, and what they share: each name is looked up once."""

    hardware: Hardware
    executor: Executor
    capacity: Capacity
    workloads: Mapping[int, Workload]
    """By seed."""
    modes: Sequence[Batching]
    cells: Sequence[Cell]
    """Policy by policy, mode by mode, seed by seed."""

    @property
    def modelled(self) -> bool:
        """Are steps only priced? Then they take the same time whenever and wherever they run, and
        the executor keeps nothing from one run to the next."""
        return modelled(self.executor)

    def engine(self, cell: Cell, watchers: Sequence[Watcher] = (), *, leaps: bool = True) -> Engine:
        """A fresh engine for one of the cells."""
        workload = self.workloads[cell.scenario.seed]
        return cell.engine(self._executor_of(cell), workload, watchers, leaps=leaps)

    def execute(self, cell: Cell, watchers: Sequence[Watcher] = ()) -> Result:
        """Run one of the cells to its end."""
        return cell.run(self._executor_of(cell), self.workloads[cell.scenario.seed], watchers)

    def _executor_of(self, cell: Cell) -> Executor:
        """The one at hand, or one of its own where it may remember a run."""
        if self.modelled:
            return self.executor
        return _executor(self.hardware, cell.scenario)

    def over(self, workload: Workload) -> Self:
        """The same on other requests; raises InputError where none can be served."""
        _check_workload(workload, self.cells[0].scenario)
        cells = [
            attrs.evolve(cell, scenario=attrs.evolve(cell.scenario, workload=workload))
            for cell in self.cells
        ]
        return attrs.evolve(self, workloads=dict.fromkeys(self.workloads, workload), cells=cells)

    @property
    def setting(self) -> dict[str, Any]:
        """What makes the results repeatable."""
        scenario, hardware = self.cells[0].scenario, self.executor.describe()
        return {
            "schedfw": version("schedfw"),
            "workload": _described(scenario.workload, self.workloads[scenario.seed]),
            "hardware": {"spec": specs.shown(scenario.hardware), **hardware},
            "model": hardware.get("model"),
            "block_bytes": self.capacity.block_bytes,
            "config": attrs.asdict(scenario.config),
            "batching": list(self.modes),
            "seed": scenario.seed,
            "seeds": len(self.workloads),
            "horizon": scenario.horizon,
            "goodput": dict(scenario.goodput),
            "warmup": scenario.warmup,
            "drain": scenario.drain,
            "policy_files": contents.policy_files(cell.scenario.policy for cell in self.cells),
        }


def prepare(
    scenario: Scenario,
    policies: Sequence[object],
    seeds: int = 1,
    batching: Sequence[Batching] = (),
) -> Prepared:
    """Each of `policies`, in each mode of `batching`, on each of `seeds` seeds: all checked.

    By default the mode is the scenario's own. Raises UsageError for what cannot run; no engine is
    built to find that out.
    """
    stacks = _stacks(policies)
    _check_choice(stacks, seeds)
    modes = list(batching) or [scenario.config.batching]
    hardware = named_hardware(scenario.hardware)
    executor = _executor(hardware, scenario)
    for mode in modes:
        refuse_unpaid(executor, mode)
    capacity = _capacity(executor, scenario.config)
    ready = attrs.evolve(scenario, config=_filled(scenario, capacity))
    workloads = _workloads(ready, range(scenario.seed, scenario.seed + seeds))
    files = contents.of_files(scenario, stacks)
    cells = [
        Cell(
            scenario=_of_cell(ready, policy, mode, seed),
            label=specs.shown_stack(policy) + (f" ({mode})" if len(modes) > 1 else ""),
            block_bytes=capacity.block_bytes,
            files=files,
        )
        for policy in stacks
        for mode in modes
        for seed in workloads
    ]
    return Prepared(
        hardware=hardware,
        executor=executor,
        capacity=capacity,
        workloads=workloads,
        modes=modes,
        cells=cells,
    )


def _of_cell(scenario: Scenario, policy: specs.PolicySpec, mode: Batching, seed: int) -> Scenario:
    config = attrs.evolve(scenario.config, batching=mode)
    return attrs.evolve(scenario, policy=policy, seed=seed, config=config)


def _stacks(policies: Sequence[object]) -> list[specs.PolicySpec]:
    if isinstance(policies, str) or not isinstance(policies, Iterable):
        raise InputError(
            "is no list", field="policies", value=policies, expected='one such as ["fcfs", "sjf"]'
        )
    return [specs.policy_spec(policy) for policy in policies]


def _check_choice(policies: Sequence[specs.PolicySpec], seeds: int) -> None:
    if seeds < 1:
        raise InputError("out of range", field="seeds", value=seeds, expected="at least 1")
    if not policies:
        raise InputError("no policy given", field="policies", expected="names such as fcfs")
    names = [specs.shown_stack(policy) for policy in policies]
    for policy, name in zip(policies, names, strict=True):
        if names.count(name) > 1:
            raise InputError("a policy is given twice", field="policies", value=name)
        Policy.from_spec(policy)


def _executor(hardware: Hardware, scenario: Scenario) -> Executor:
    return hardware.executor(scenario.model, block_size=scenario.config.block_size)


def _capacity(executor: Executor, config: EngineConfig) -> Capacity:
    return executor.capacity(
        block_size=config.block_size,
        gpu_memory_utilization=config.gpu_memory_utilization,
        max_num_batched_tokens=config.max_num_batched_tokens,
    )


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


def _workloads(scenario: Scenario, seeds: Iterable[int]) -> dict[int, Workload]:
    """What each seed draws, each servable; listed requests are the same under all."""
    named = scenario.workload
    if isinstance(named, Workload):
        found = dict.fromkeys(seeds, named)
    else:
        source = named_source(named)
        found = {seed: source.build(seed) for seed in seeds}
    for workload in found.values():
        _check_workload(workload, scenario)
        _check_warmup(workload, scenario.warmup)
    check_classes(scenario.goodput, chain.from_iterable(w.requests for w in found.values()))
    return found


def _check_warmup(workload: Workload, warmup: float) -> None:
    """In a closed loop nobody knows before the run when the last request comes."""
    arrivals = [request.arrival for request in workload.requests] if warmup else []
    if not arrivals or workload.max_concurrency is not None:
        return
    if warmup > (last := max(arrivals) - min(arrivals)):
        raise InputError(
            "no request arrives after it",
            field="warmup",
            value=warmup,
            expected=f"at most the {last:.12g} s between the first arrival and the last",
        )


def _check_workload(workload: Workload, scenario: Scenario) -> None:
    try:
        refuse_unservable(workload, scenario.config)
    except InputError as error:
        named = specs.shown(str(scenario.workload))
        place = workload.description.get("path") or f"workload {named!r}"
        raise InputError(f"{place}: {error}") from None


def _described(named: str | Workload, workload: Workload) -> dict[str, Any]:
    return {
        "spec": None if isinstance(named, Workload) else specs.shown(named),
        "requests": len(workload.requests),
        "dropped": {why: count for why, count in workload.dropped.items() if count},
        **workload.description,
        **further_of(workload.requests),
    }
