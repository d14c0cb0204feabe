"""A workload run for real and in simulation: how far the simulation is off, and in what."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import attrs

from sched_core.catalogue import build
from sched_core.errors import InputError
from sched_core.experiment import simulate
from sched_core.plan import StepLoad
from sched_core.request import NANOSECONDS
from sched_core.scenario import Scenario
from sched_core.workload import Workload

LOADS = {"light": 0.3, "overload": 1.5}
"""Request rates, as shares of what the simulation says is the most that can be served."""

FIGURES: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
    "ttft": lambda summary: summary["ttft"]["mean"],
    "tpot": lambda summary: summary["tpot"]["mean"],
    "e2el": lambda summary: summary["e2el"]["mean"],
    "output_throughput": lambda summary: summary["output_throughput"],
}
"""Means over the finished requests, in seconds, and output tokens per second."""

RANKED_BY = ("ttft", "tpot", "e2el")

TIE = 0.05
"""Policies that are measured within 5 % of each other are not told apart by one run."""


@attrs.frozen
class Compared:
    """One figure of one policy at one load."""

    load: str
    policy: str
    figure: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """Relative, above 0 where the simulation says more."""
        return self.simulated / self.measured - 1


@attrs.frozen
class StepErrors:
    """Prices of the very steps that were run against the times they took, relative."""

    load: str
    policy: str
    steps: int
    error: float
    """Mean of the absolute values."""
    bias: float
    """Mean with sign: above 0 is priced too slow."""
    total: float
    """Of the sum of all step times, with sign."""


@attrs.frozen
class Ranking:
    """One figure of every policy: which is best, and does the simulation say so too?"""

    load: str
    figure: str
    measured: dict[str, float]
    simulated: dict[str, float]

    @property
    def agrees(self) -> bool:
        """Is every pair of policies that the real runs tell apart in the same order?"""
        return all(
            self.simulated[better] < self.simulated[worse]
            for better, worse in permutations(self.measured, 2)
            if self.measured[better] * (1 + TIE) < self.measured[worse]
        )


@attrs.frozen
class Validation:
    """All that a comparison of real and simulated runs says."""

    saturation: float
    """Requests per second that the simulation serves when all are there from the start."""
    figures: list[Compared]
    steps: list[StepErrors]
    rankings: list[Ranking]


def validate(real: Scenario, hardware: str, policies: Sequence[str]) -> Validation:
    """Run each policy for real, and on the model `hardware`, at each of `LOADS`.

    The workload keeps its requests; their arrivals are stretched to the rate.
    """
    simulated = attrs.evolve(real, hardware=hardware)
    workload = _workload(real)
    at_once = attrs.evolve(simulated, workload=_at_rate(workload, None))
    most = simulate(at_once).results[0].summary["request_throughput"]
    figures: list[Compared] = []
    steps: list[StepErrors] = []
    for load, share in LOADS.items():
        same = _at_rate(workload, share * most)
        for policy in policies:
            ran = attrs.evolve(real, workload=same, policy=policy)
            measured, step_errors = _measured(ran, simulated)
            predicted = simulate(attrs.evolve(ran, hardware=hardware)).results[0].summary
            steps.append(StepErrors(load, policy, *step_errors))
            figures += _compared(load, policy, measured, predicted)
    return Validation(most, figures, steps, list(_rankings(figures)))


def _workload(scenario: Scenario) -> Workload:
    if isinstance(scenario.workload, Workload):
        return scenario.workload
    built: Workload = build("workloads", scenario.workload).build(scenario.seed)
    return built


def _at_rate(workload: Workload, rate: float | None) -> Workload:
    """The same requests, `rate` a second on average; None is all at once."""
    last = max(spec.arrival for spec in workload.requests)
    if not last:
        raise InputError(
            "all requests arrive at once, so their rate cannot be set",
            field="workload",
            expected="one with arrivals, such as poisson:n=60",
        )
    stretch = len(workload.requests) / last / rate if rate else 0.0
    specs = [attrs.evolve(spec, arrival=spec.arrival * stretch) for spec in workload.requests]
    return attrs.evolve(workload, requests=specs)


def _measured(
    real: Scenario, simulated: Scenario
) -> tuple[Mapping[str, Any], tuple[int, float, float, float]]:
    """The summary of a real run, and how far the price of its steps is off."""
    executor = build("hardware", simulated.hardware).executor(
        simulated.model, block_size=simulated.config.block_size
    )
    took: list[float] = []
    priced: list[float] = []

    def watch(plan: Any, state: Any, *_: Any) -> None:
        if any(plan.load):
            took.append((state.now_ns - plan.time_ns) / NANOSECONDS)
            priced.append(executor.costs.step(StepLoad(*plan.load)))

    summary = simulate(real, watch=watch).results[0].summary
    off = [price / seconds - 1 for price, seconds in zip(priced, took, strict=True)]
    mean = sum(map(abs, off)) / len(off)
    return summary, (len(off), mean, sum(off) / len(off), sum(priced) / sum(took) - 1)


def _compared(
    load: str, policy: str, measured: Mapping[str, Any], simulated: Mapping[str, Any]
) -> Iterator[Compared]:
    for name, figure in FIGURES.items():
        real, model = figure(measured), figure(simulated)
        if real is not None and model is not None:
            yield Compared(load, policy, name, real, model)


def _rankings(figures: Sequence[Compared]) -> Iterator[Ranking]:
    for load in LOADS:
        for name in RANKED_BY:
            rows = [row for row in figures if (row.load, row.figure) == (load, name)]
            yield Ranking(
                load,
                name,
                {row.policy: row.measured for row in rows},
                {row.policy: row.simulated for row in rows},
            )
