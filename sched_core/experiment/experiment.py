"""One policy, or several on the same workloads: everything is checked before anything runs."""

from collections.abc import Callable, Iterator, Sequence

from sched_core.config import Batching
from sched_core.errors import InputError
from sched_core.execution.step_record import Watcher
from sched_core.experiment.prepare import Run, plan
from sched_core.experiment.scenario import Scenario
from sched_core.reports.report import Report, Result


def simulate(scenario: Scenario, *, watchers: Sequence[Watcher] = ()) -> Report:
    """Run the scenario's own policy; `watchers` are told of every step.

    Raises UsageError before anything runs, PolicyError or NoProgress from the run.
    """
    setting, (run,) = plan(scenario, [scenario.policy])
    return Report(setting=setting, results=[run.execute(watchers)])


def compare(
    scenario: Scenario,
    policies: Sequence[str],
    *,
    seeds: int = 1,
    batching: Sequence[Batching] = (),
    jobs: int = 1,
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Run each of `policies` on the same workloads: those of `seeds` seeds from the scenario's on.

    With several modes of `batching` each policy runs in each of them.
    `jobs` processes (-1: one per core) give the same results as one. `on_result` is called in
    order. Raises UsageError before anything runs, PolicyError or NoProgress from a run.
    """
    if jobs != -1 and jobs < 1:
        raise InputError("out of range", field="jobs", value=jobs, expected="at least 1, or -1")
    setting, runs = plan(scenario, policies, seeds, batching)
    results = []
    for result in _executed(runs, jobs):
        results.append(result)
        if on_result is not None:
            on_result(result)
    return Report(setting=setting, results=results)


def _executed(runs: Sequence[Run], jobs: int) -> Iterator[Result]:
    if jobs == 1:
        return map(Run.execute, runs)
    from joblib import Parallel, delayed  # loads slowly

    answer: Iterator[Result] = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(Run.execute)(run) for run in runs
    )
    return answer
