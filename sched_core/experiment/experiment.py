"""One policy, or several on the same workloads: everything is checked before anything runs."""

import os
from collections.abc import Callable, Iterator, Sequence

from sched_core.config import Batching
from sched_core.errors import InputError
from sched_core.execution.step_record import Watcher
from sched_core.experiment import sending
from sched_core.experiment.cell import Cell
from sched_core.experiment.contents import once_only
from sched_core.experiment.prepare import Prepared, prepare
from sched_core.experiment.scenario import Scenario
from sched_core.reports.report import Report, Result


def simulate(scenario: Scenario, *, watchers: Sequence[Watcher] = ()) -> Report:
    """Run the scenario's own policy; each of `watchers` is told of its steps.

    Raises UsageError before anything runs, PolicyError or NoProgress from the run.
    """
    return run(prepare(scenario, [scenario.policy]), watchers=watchers)


def compare(
    scenario: Scenario,
    policies: Sequence[object],
    *,
    seeds: int = 1,
    batching: Sequence[Batching] = (),
    jobs: int = 1,
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Run each of `policies` on the same workloads: those of `seeds` seeds from the scenario's on.

    A policy is a text such as `priority+adaptive`, a class, an instance, or a tuple of such parts;
    of an instance each run gets a fresh copy, made of its parameters.

    With several modes of `batching` each policy runs in each of them.
    `jobs` processes (-1: one per core) give the same results as one. `on_result` is called in
    order. Raises UsageError before anything runs, PolicyError or NoProgress from a run.
    """
    return run_all(prepare(scenario, policies, seeds, batching), jobs=jobs, on_result=on_result)


def run(prepared: Prepared, *, watchers: Sequence[Watcher] = ()) -> Report:
    """Run what was prepared, a single cell."""
    (cell,) = prepared.cells
    return Report(setting=prepared.setting, results=[prepared.execute(cell, watchers)])


def run_all(
    prepared: Prepared, *, jobs: int = 1, on_result: Callable[[Result], None] | None = None
) -> Report:
    """Run all that was prepared in `jobs` processes; `on_result` is called in order."""
    if jobs != -1 and jobs < 1:
        raise InputError("out of range", field="jobs", value=jobs, expected="at least 1, or -1")
    if jobs != 1 and (lost := once_only(prepared.cells[0].files)):
        raise InputError(
            "can be read once, and each process would read it",
            file=lost[0],
            field="jobs",
            value=jobs,
            expected="1, or a file in its place",
        )
    results = []
    for result in _results(prepared, jobs):
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(setting=prepared.setting, results=results)


def _results(prepared: Prepared, jobs: int) -> Iterator[Result]:
    if jobs == 1:
        return map(prepared.execute, prepared.cells)
    return _from_processes(prepared.cells, jobs)


def _from_processes(cells: Sequence[Cell], jobs: int) -> Iterator[Result]:
    """The results in order. The cells go out seed by seed, as a process keeps its workload."""
    from joblib import Parallel, delayed  # loads slowly

    packed, here = sending.packed(cells, jobs), os.getcwd()
    rows = sorted(range(len(cells)), key=lambda row: cells[row].scenario.seed)
    results = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(sending.execute_in)(here, packed[row]) for row in rows
    )
    early: dict[int, Result] = {}
    due = 0
    for row, result in zip(rows, results, strict=True):
        early[row] = result
        while due in early:
            yield early.pop(due)
            due += 1
