"""What an invariant is, and where its function is filed under its name."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import attrs

When = Literal["operation", "read", "step", "end"]


@attrs.frozen
class Invariant:
    """A rule that every run keeps; `check` yields a sentence for everything that is wrong."""

    name: str
    when: When
    """Asked after every operation on memory, when a request reads its context, after every step,
    or at the end: of an Operation, a Read, an Observed or an Ended."""
    check: Callable[[Any], Iterator[str]]
    fcfs: bool
    """Does it hold only under first come, first served with the youngest as victim?"""


FILED: dict[str, Invariant] = {}
"""By name; complete once `sched_core.testing.invariants` is imported."""


def invariant(name: str, when: When, *, fcfs: bool = False) -> Callable[[Any], Any]:
    """File a function as the check of an invariant."""

    def file(check: Any) -> Any:
        FILED[name] = Invariant(name, when, check, fcfs)
        return check

    return file


class InvariantError(AssertionError):
    """An invariant does not hold: which one, and how."""

    def __init__(self, name: str, problem: str) -> None:
        self.name, self.problem = name, problem
        super().__init__(f"{name}: {problem}")
