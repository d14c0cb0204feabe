"""Does the engine keep its own rules, whatever this policy answers?"""

from collections.abc import Iterator

from sched_core.errors import SchedfwError
from sched_core.testing.checks.registry import check
from sched_core.testing.invariants import GENERAL
from sched_core.testing.invariants.registry import InvariantError
from sched_core.testing.trial import Trial

TIER = "invariants"


def _file(name: str) -> None:
    @check(name, TIER)
    def holds(trial: Trial) -> Iterator[str]:
        error = trial.watched.error
        if isinstance(error, InvariantError) and error.name == name:
            yield error.problem


for _invariant in GENERAL:
    _file(_invariant.name)


@check("H6 no answer breaks the engine", TIER)
def no_answer_breaks_the_engine(trial: Trial) -> Iterator[str]:
    """A run ends, or is ended on purpose."""
    error = trial.watched.error
    if error is not None and not isinstance(error, SchedfwError | InvariantError):
        yield f"{type(error).__name__}: {error}"
