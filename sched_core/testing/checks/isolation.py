"""Does the policy decide from what its views show, and leave it as it is?"""

from collections.abc import Iterator, Sequence
from math import inf
from random import Random

import attrs

from sched_core.engine.servable import refusal
from sched_core.testing.checks.registry import check
from sched_core.testing.compare_runs import of_steps
from sched_core.testing.fake_clock import ClockAndSeed
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.run import Run
from sched_core.testing.state_guard import guard_state
from sched_core.testing.trial import Trial
from sched_core.workload.spec import RequestSpec

TIER = "isolation"

ANOTHER_TIME = ClockAndSeed(start=1e9 + 0.5, tick=0.37)
ANOTHER_SEED = ClockAndSeed(seed=1)


def _may_see_lengths(under_test: PolicyUnderTest) -> str | None:
    return "an oracle may see them" if under_test.oracle else None


@check("G3 true lengths stay hidden", TIER, skip=_may_see_lengths)
def true_lengths_stay_hidden(trial: Trial) -> Iterator[str]:
    """Longer outputs change nothing until a request goes on that would have ended."""
    longer = _lengthened(trial)
    if found := trial.compare(lambda: trial.run(longer), _before_it_shows):
        lengths = {spec.id: spec.output_len for spec in longer}
        yield f"with output lengths {lengths}, which nobody can know yet, {found}"


def _lengthened(trial: Trial) -> list[RequestSpec]:
    """The outputs of those that end in the second half are longer, where that can be served."""
    random, records = Random(trial.scenario.seed), trial.watched.requests
    ends = {spec.id: records.get(spec.id, {}).get("finish") or inf for spec in trial.requests}
    middle = sorted(ends.values())[len(ends) // 2]
    changed = []
    for spec in trial.requests:
        longer = attrs.evolve(spec, output_len=spec.output_len + random.randint(1, 20))
        kept = ends[spec.id] < middle or refusal(longer, trial.scenario.config)
        changed.append(spec if kept else longer)
    return changed


def _before_it_shows(one: Run, other: Run) -> str | None:
    for a, b in zip(one.decisions, other.decisions, strict=False):
        if (found := of_steps(a, b)) or a["finished"] != b["finished"]:
            return found
    return None


@check("G3 the future stays hidden", TIER)
def the_future_stays_hidden(trial: Trial) -> Iterator[str]:
    """Without its last requests a run is the same until the first of them would arrive."""
    arrivals = sorted({spec.arrival for spec in trial.requests})
    cut = arrivals[len(arrivals) // 2]
    early = [spec for spec in trial.requests if spec.arrival < cut]
    if not _servable(early, trial):
        return

    def before_the_cut(one: Run, other: Run) -> str | None:
        for a, b in zip(one.decisions, other.decisions, strict=False):
            if a["time"] >= cut:
                break
            if found := of_steps(a, b):
                return found
        return None

    if found := trial.compare(lambda: trial.run(early), before_the_cut):
        yield f"without the requests that arrive from {cut:g} s on, {found}"


def _servable(requests: Sequence[RequestSpec], trial: Trial) -> bool:
    return any(refusal(spec, trial.scenario.config) is None for spec in requests)


@check("G3 the wall clock does not matter", TIER)
def the_wall_clock_does_not_matter(trial: Trial) -> Iterator[str]:
    """At another time of day, which passes faster, the run is the same."""
    if found := trial.compare(lambda: trial.run(clock=ANOTHER_TIME)):
        yield f"at another time of day {found}"


@check("G3 global random state does not matter", TIER)
def global_random_state_does_not_matter(trial: Trial) -> Iterator[str]:
    """With `random` and `numpy.random` seeded otherwise the run is the same."""
    if found := trial.compare(lambda: trial.run(clock=ANOTHER_SEED)):
        yield f"with another global random state {found}; view.rng is seeded for the run"


@check("G3 views are only read", TIER)
def views_are_only_read(trial: Trial) -> Iterator[str]:
    """No hook changes the engine's state."""
    policy = trial.under_test.policy()
    changes = guard_state(policy)
    trial.run(policy=policy)
    yield from changes
