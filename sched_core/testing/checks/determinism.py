"""Do the same inputs give the same decisions, wherever and however often they are run?"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from sched_core.testing.checks.registry import check
from sched_core.testing.compare_runs import difference, of_records
from sched_core.testing.invariants.registry import InvariantError
from sched_core.testing.other_processes import answers
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.random_policies import silent_component
from sched_core.testing.run import Run
from sched_core.testing.trial import Trial
from sched_core.workload.spec import RequestSpec

TIER = "determinism"


def _cannot_travel(under_test: PolicyUnderTest) -> str | None:
    if under_test.spec or under_test.factory:
        return None
    return "another process cannot import it"


@check("G1 other processes decide alike", TIER, skip=_cannot_travel)
def processes_decide_alike(trial: Trial) -> Iterator[str]:
    """Whatever their hash seed, the addresses of their objects, and what else they read."""
    one, other = answers(trial.under_test, trial.scenario)
    if one != other:
        for a, b in zip(json.loads(one)[0], json.loads(other)[0], strict=False):
            if a != b:
                yield f"step {a['step']} at {a['time']:g} s is {a} in one and {b} in the other"
                return
        yield "two processes end with different records"


@check("G2 nothing survives a run", TIER)
def nothing_survives_a_run(trial: Trial) -> Iterator[str]:
    """After other runs in the same process the same scenario gives the same."""
    broken = isinstance(trial.watched.error, InvariantError)
    if not broken and (found := difference(trial.watched, trial.again)):
        yield f"in a second run {found}"


@check("G4 rows may be permuted", TIER)
def rows_may_be_permuted(trial: Trial) -> Iterator[str]:
    """The order of rows matters to requests that arrive together, and to them only."""
    if found := trial.compare(lambda: trial.run(_permuted(trial.requests))):
        yield f"with the rows in another order {found}"


def _permuted(requests: Sequence[RequestSpec]) -> list[RequestSpec]:
    groups = groupby(sorted(requests, key=_arrival), key=_arrival)
    return [spec for group in reversed([list(group) for _, group in groups]) for spec in group]


def _arrival(spec: RequestSpec) -> float:
    return spec.arrival


@check("H2 silence changes nothing", TIER)
def silence_changes_nothing(trial: Trial) -> Iterator[str]:
    """With a component before it that has no opinion on anything the policy decides the same."""

    def behind_silence() -> Run:
        return trial.run(policy=trial.under_test.policy(("silent", silent_component())))

    if found := trial.compare(behind_silence):
        yield f"behind a silent component {found}"


@check("H2 leaps change nothing", TIER)
def leaps_change_nothing(trial: Trial) -> Iterator[str]:
    """Steps that the engine takes many at a time come to the same."""
    if found := trial.compare(lambda: trial.run(in_leaps=True), of_records):
        yield f"in leaps {found}"
