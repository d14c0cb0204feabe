"""Does everyone get served?

A policy may well starve a request for ever: strict priority does, while more urgent requests keep
coming. That is its rule, so no check can call it a fault. What can be asked of any policy is that
everyone is served once arrivals stop, and that among requests which do not differ in anything but
their arrival nobody has to wait for ever; but for components that say otherwise (`starves`).
"""

from collections.abc import Iterator

from sched_core.errors import NoProgress
from sched_core.testing.checks import traps
from sched_core.testing.checks.registry import check
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.strategies import equals
from sched_core.testing.trial import Trial

TIER = "liveness"


@check("E6 everyone ends", TIER)
def everyone_ends(trial: Trial) -> Iterator[str]:
    """Once arrivals stop, in at most PATIENCE steps per token."""
    run = trial.watched
    if isinstance(run.error, NoProgress):
        yield str(run.error)
    if run.unfinished:
        yield f"{', '.join(run.unfinished)} had not ended after {trial.scenario.horizon:g} s"


def _says_so(under_test: PolicyUnderTest) -> str | None:
    declared = under_test.policy().declares.starves
    return "; ".join(f"{name} may starve {whom}" for name, whom in declared.items()) or None


@check("E6 no equal starves", TIER, scenarios=equals(), traps=traps.EQUALS, waiver=_says_so)
def no_equal_starves(trial: Trial) -> Iterator[str]:
    """In a stream of equal requests nobody is overtaken by half of all the others."""
    run = trial.run()
    if run.error is not None or run.unfinished:
        return  # that is another check's
    finishes = {spec.id: run.requests[spec.id]["finish"] for spec in trial.requests}
    served = [(name, finish) for name, finish in finishes.items() if finish is not None]
    for number, (name, finish) in enumerate(served):
        overtakers = sum(later < finish for _, later in served[number + 1 :])
        if overtakers > len(served) / 2:
            yield f"{overtakers} requests came after {name} and left before"
