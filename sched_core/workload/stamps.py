"""Points in time as integers of nanoseconds: numbers in a unit, and dates of ISO 8601."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from sched_core.limits import MAX_NS, MAX_SECONDS, Numbers

Unit = Literal["s", "ms", "us", "ns"]

NS: dict[Unit, int] = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""Nanoseconds in one of each."""

WORDS: dict[Unit, str] = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(
    r"(\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?"
    r"(?:(?P<utc>Z| ?UTC)|(?P<zone>[+-]\d{2}:?\d{2}))?",
    re.ASCII,
)
_THIS_CENTURY = range(946_684_800 * 10**9, 4_102_444_800 * 10**9)
"""2000 to 2100, in nanoseconds since 1970."""


class Moment(NamedTuple):
    """A point in time, and how it was written: all stamps of a file must be written alike."""

    ns: int
    form: str


def date(text: str) -> Moment:
    """Nanoseconds since 1970, every digit of the fraction kept; no zone means UTC.

    Not with `strptime`, which refuses a seventh digit, nor `fromisoformat` alone, which drops it.
    Raises ValueError for any other text.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise ValueError(text)
    clock, fraction = match[1], match[2]
    zoned = match["utc"] or match["zone"]
    moment = datetime.fromisoformat(clock + (match["zone"] or "+00:00"))
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    form = "dates" if zoned else "dates without a zone, taken as UTC"
    return Moment(seconds * NS["s"] + int((fraction or "").ljust(9, "0")), form)


def number(value: int | Decimal, unit: Unit | None) -> Moment:
    """`value` in `unit`, or in seconds; without a unit what only nanoseconds can be is those.

    Raises ValueError for what is beyond the limits: `expected` says what is not.
    """
    exact = Decimal(value)
    if not exact.is_finite():
        raise ValueError(value)
    known: Unit = unit or ("ns" if exact > MAX_SECONDS * 10**6 else "s")
    exact *= NS[known]
    if not 0 <= exact <= MAX_NS:
        raise ValueError(value)
    return Moment(round(exact), f"numbers in {known}")


def since_1970(value: int | Decimal) -> Moment:
    """A number that must be a date of this century, in the one unit that makes it one.

    Raises ValueError where there is none.
    """
    for unit, ns in NS.items():
        if Decimal(value).is_finite() and round(value * ns) in _THIS_CENTURY:
            return Moment(round(value * ns), f"numbers in {unit} since 1970")
    raise ValueError(value)


def expected(value: object, unit: Unit | None) -> str:
    """What a stamp has to be; where `value` is a date since 1970 in another unit, which."""
    known = unit or "s"
    text = str(Numbers(0, MAX_NS / NS[known], WORDS[known]))
    if unit is None:
        text += ", or a date such as 2023-11-16T18:17:03Z"
        if isinstance(value, int | Decimal):
            text += _guesses(value)
    return text


def _guesses(value: int | Decimal) -> str:
    if not Decimal(value).is_finite():
        return ""
    units: tuple[Unit, ...] = ("ms", "us", "ns")
    fitting = [unit for unit in units if int(value * NS[unit]) in _THIS_CENTURY]
    others = [unit for unit in units if unit not in fitting]
    listed = [f"unit={unit} (then it is {shown(int(value * NS[unit]))})" for unit in fitting]
    listed += [f"unit={unit}" for unit in others]
    return f"; say {', '.join(listed[:-1])} or {listed[-1]}" if value > MAX_SECONDS else ""


def shown(ns: int) -> str:
    """The date of so many nanoseconds since 1970, to the second."""
    return f"{_EPOCH + timedelta(seconds=ns // 10**9):%Y-%m-%d %H:%M:%S}"
