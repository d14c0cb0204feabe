"""How large numbers may be, wherever they come from: one set of limits for files, specs and code.

Times must fit 64 bits as nanoseconds, where numpy adds them up. Counts and priorities are 32-bit
integers, as block and token ids are on a GPU, so that products of two of them fit 64 bits.
"""

from numbers import Integral, Real
from typing import Any, NoReturn, TypeGuard

import attrs

from sched_core.errors import InputError

NANOSECONDS = 1_000_000_000
"""Engine ticks in one second: the clock is an integer."""

MAX_SECONDS = 9_000_000_000
"""285 years; 2**63 nanoseconds are 292."""

MAX_NS = MAX_SECONDS * NANOSECONDS

MAX_COUNT = 2**31 - 1


@attrs.frozen
class Numbers:
    """The numbers from `low` to `high`; as an attrs validator it refuses all else."""

    low: float
    high: float = MAX_COUNT
    unit: str = "a number"

    def holds(self, value: object) -> bool:
        """Is `value` one of them? True and NaN are not."""
        return is_number(value) and self.low <= value <= self.high

    def require(self, value: object, field: str, *, file: object = None) -> None:
        """Raises InputError naming `field` unless `value` is one of them."""
        if not self.holds(value):
            problem = "out of range" if is_number(value) else None
            refuse(value, field, f"{self}", problem=problem, file=file)

    def __call__(self, _: object, field: "attrs.Attribute[Any]", value: object) -> None:
        self.require(value, field.name)

    def __str__(self) -> str:
        return f"{self.unit} from {self.low:.15g} to {self.high:.15g}"


@attrs.frozen
class Integers(Numbers):
    """The integers from `low` to `high`, likewise: 5.0 is none."""

    unit: str = "an integer"

    def holds(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.unit} from {self.low} to {self.high}"


COUNTS = Integers(1)
TOKENS = Integers(0)
PRIORITIES = Integers(-MAX_COUNT - 1)
SEEDS = Integers(0, 2**63 - 1)
SECONDS = Numbers(0, MAX_SECONDS, "seconds")
FRACTIONS = Numbers(0, 1, "a fraction")


def flag(_: object, field: "attrs.Attribute[Any]", value: object) -> None:
    """A validator: raises InputError unless `value` is a bool, as "false" would count as true."""
    if not isinstance(value, bool):
        refuse(value, field.name, "true or false")


def text(_: object, field: "attrs.Attribute[Any]", value: object) -> None:
    """A validator: raises InputError unless `value` is a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        refuse(value, field.name, "a text")


def refuse(
    value: object, field: str, expected: str, *, problem: str | None = None, file: object = None
) -> NoReturn:
    """Raises InputError: `value` is missing, empty or does not fit, or has the `problem` given."""
    usual = "missing" if value is None else "empty" if value == "" else "does not fit"
    raise InputError(problem or usual, file=file, field=field, value=value, expected=expected)


def plain(value: Any) -> Any:
    """A number of numpy or pandas as Python's own; all else as it is."""
    if isinstance(value, bool) or type(value) in (int, float):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def is_number(value: object) -> TypeGuard[int | float]:
    """Is `value` an integer or a float, and no bool?"""
    return isinstance(value, int | float) and not isinstance(value, bool)
