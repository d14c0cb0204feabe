"""A workload run for real and in simulation: how far the simulation is off, and in what."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, permutations
from typing import Any, NamedTuple

import attrs

from sched_core.catalogue.specs import PolicySpec
from sched_core.errors import InputError
from sched_core.execution.load import StepLoad
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.experiment.cell import Cell
from sched_core.experiment.prepare import Prepared, prepare
from sched_core.experiment.scenario import Scenario
from sched_core.limits import NANOSECONDS
from sched_core.workload.source import Workload

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
"""Policies whose medians are within 5 % of each other are not told apart."""

ROUNDS = 3
"""Real runs of each policy, in turns: no two take equally long."""


@attrs.frozen
class Compared:
    """One figure of one policy at one load."""

    load: str
    policy: str
    figure: str
    measured: float
    """Median of the rounds."""
    lowest: float
    highest: float
    simulated: float

    @property
    def error(self) -> float:
        """Of the simulation against the median: relative, above 0 where it says more."""
        return self.simulated / self.measured - 1


@attrs.frozen
class StepErrors:
    """Prices of the very steps that were run against the times they took, relative."""

    load: str
    policy: str
    steps: int
    """Of all rounds."""
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
    measured: dict[str, list[float]]
    """Round by round."""
    simulated: dict[str, float]

    @property
    def medians(self) -> dict[str, float]:
        """The measured figure of each policy."""
        return {policy: statistics.median(rounds) for policy, rounds in self.measured.items()}

    @property
    def agrees(self) -> bool | None:
        """Is every pair of policies that the real runs tell apart in the same order? None where
        they tell none apart, so that there is nothing to agree with.

        They tell two apart when one is better in every round, and by more than `TIE` on the whole.
        """
        told = [pair for pair in permutations(self.measured, 2) if self._apart(*pair)]
        if not told:
            return None
        return all(self.simulated[better] < self.simulated[worse] for better, worse in told)

    def _apart(self, better: str, worse: str) -> bool:
        rounds = zip(self.measured[better], self.measured[worse], strict=True)
        apart = self.medians[better] * (1 + TIE) < self.medians[worse]
        return apart and all(one < other for one, other in rounds)


@attrs.frozen
class Validation:
    """All that a comparison of real and simulated runs says."""

    saturation: float
    """Requests per second that the simulation serves when all are there from the start."""
    figures: list[Compared]
    steps: list[StepErrors]
    rankings: list[Ranking]


def validate(
    real: Scenario, hardware: str, policies: Sequence[str], rounds: int = ROUNDS
) -> Validation:
    """Run each policy `rounds` times for real, and on the model `hardware`, at each of `LOADS`.

    The workload keeps its requests; their arrivals are stretched to the rate. Raises UsageError
    before anything runs, as `simulate` and `compare` do.
    """
    simulated = prepare(attrs.evolve(real, hardware=hardware), policies)
    workload = simulated.workloads[real.seed]
    at_once = simulated.over(_at_rate(workload, None))
    measured = prepare(attrs.evolve(real, workload=workload), policies)
    most = _saturation(at_once, real.policy)
    found = Validation(most, [], [], [])
    for load, share in LOADS.items():
        same = _at_rate(workload, share * most)
        predicted = _predicted(simulated.over(same))
        runs = _in_turns(measured.over(same), simulated.executor.costs.step, rounds)
        found.steps.extend(_step_errors(load, name, ran) for name, ran in runs.items())
        rankings = list(_rankings(load, runs, predicted))
        found.figures.extend(_compared(rankings, list(runs)))
        found.rankings.extend(row for row in rankings if row.figure in RANKED_BY)
    return found


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


def _saturation(at_once: Prepared, policy: PolicySpec) -> float:
    cell = at_once.cells[0]
    cell = attrs.evolve(cell, scenario=attrs.evolve(cell.scenario, policy=policy))
    most: float = at_once.execute(cell).summary["request_throughput"]
    return most


def _predicted(simulated: Prepared) -> dict[str, dict[str, float | None]]:
    return {cell.label: _figures(simulated.execute(cell).summary) for cell in simulated.cells}


def _figures(summary: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: figure(summary) for name, figure in FIGURES.items()}


class _Ran(NamedTuple):
    """One real run."""

    figures: dict[str, float | None]
    took: list[float]
    """Seconds of each step."""
    priced: list[float]


def _in_turns(
    real: Prepared, price: Callable[[StepLoad], float], rounds: int
) -> dict[str, list[_Ran]]:
    """The rounds of each policy. One after the other, so that none has the better hour."""
    runs: dict[str, list[_Ran]] = {cell.label: [] for cell in real.cells}
    for _ in range(rounds):
        for cell in real.cells:
            runs[cell.label].append(_measured(real, cell, price))
    return runs


class _Priced(Watcher):
    """Keeps what each step took, and what a price says of it."""

    single_steps = True

    def __init__(self, price: Callable[[StepLoad], float]) -> None:
        self._price = price
        self.took: list[float] = []
        self.priced: list[float] = []

    def stepped(self, record: StepRecord) -> None:
        if any(record.plan.load):
            self.took.append(record.durations_ns[0] / NANOSECONDS)
            self.priced.append(self._price(record.plan.load))


def _measured(real: Prepared, cell: Cell, price: Callable[[StepLoad], float]) -> _Ran:
    watcher = _Priced(price)
    figures = _figures(real.execute(cell, [watcher]).summary)
    return _Ran(figures, watcher.took, watcher.priced)


def _step_errors(load: str, policy: str, runs: Sequence[_Ran]) -> StepErrors:
    took = list(chain(*(run.took for run in runs)))
    priced = list(chain(*(run.priced for run in runs)))
    off = [price / seconds - 1 for price, seconds in zip(priced, took, strict=True)]
    error = sum(map(abs, off)) / len(off)
    return StepErrors(
        load, policy, len(off), error, sum(off) / len(off), sum(priced) / sum(took) - 1
    )


def _rankings(
    load: str,
    measured: Mapping[str, Sequence[_Ran]],
    predicted: Mapping[str, Mapping[str, float | None]],
) -> Iterator[Ranking]:
    """Of every figure, over the policies that have it: without decodes there is no TPOT."""
    for name in FIGURES:
        known: dict[str, list[float]] = {}
        simulated: dict[str, float] = {}
        for policy, runs in measured.items():
            rounds, model = [run.figures[name] for run in runs], predicted[policy][name]
            if model is not None and None not in rounds:
                known[policy] = [value for value in rounds if value is not None]
                simulated[policy] = model
        yield Ranking(load, name, known, simulated)


def _compared(rankings: Sequence[Ranking], policies: Iterable[str]) -> Iterator[Compared]:
    for policy in policies:
        for row in rankings:
            if rounds := row.measured.get(policy):
                middle, simulated = row.medians[policy], row.simulated[policy]
                figure = (row.load, policy, row.figure)
                yield Compared(*figure, middle, min(rounds), max(rounds), simulated)
