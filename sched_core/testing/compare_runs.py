"""What is the first thing in which two runs differ?"""

from collections.abc import Iterable
from itertools import zip_longest

from sched_core.testing.run import Decision, Run

DECIDED = ("step", "time", "scheduled", "admitted", "resumed", "preempted", "swapped_out",
           "swapped_in")  # fmt: skip
"""What a step decides before anybody can see what comes of it."""


def difference(one: Run, other: Run) -> str | None:
    """In words; None if two whole runs are the same."""
    for a, b in zip_longest(one.decisions, other.decisions):
        if a != b:
            return of_steps(a, b, a or b or {})
    return of_records(one, other)


def of_records(one: Run, other: Run) -> str | None:
    """How the records of two runs differ, or their ends."""
    for name, record in one.requests.items():
        if record != other.requests.get(name):
            return f"the record of {name} is {other.requests.get(name)}, not {record}"
    if type(one.error) is not type(other.error):
        return f"the run ends with {other.error!r}, not {one.error!r}"
    return None


def of_steps(a: Decision | None, b: Decision | None, fields: Iterable[str] = DECIDED) -> str | None:
    """How the second of two decisions differs from the first, in some of their fields."""
    if a is None or b is None:
        return f"step {(a or b or {})['step']} happens in one run only"
    for field in fields:
        if a[field] != b[field]:
            return f"step {a['step']} at {a['time']:g} s: {field} {b[field]}, not {a[field]}"
    return None
