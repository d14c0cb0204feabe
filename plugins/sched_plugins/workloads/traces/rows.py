"""One row of a trace file, and its cells as exact numbers."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

import attrs

from sched_core import InputError, limits

Kind = Literal["csv", "jsonl"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")


class Layout(NamedTuple):
    """The columns of a CSV file, or the keys of one JSON object, and where they stand."""

    kind: Kind
    columns: tuple[str, ...]
    file: str
    line: int
    """As an editor counts: from 1."""


@attrs.frozen(slots=True)
class Row:
    """One row. CSV values are text; JSON values are as parsed, numbers being int or Decimal."""

    file: str
    line: int
    """As an editor counts: from 1, a header included."""
    values: Mapping[str, object]
    kind: Kind

    def error(self, field: str, expected: str, problem: str = "cannot be used") -> InputError:
        """The error that says what is wrong with the value of `field`."""
        if not self.has(field):
            problem = "missing"
        value = self.values.get(field)
        return InputError(
            problem,
            file=self.file,
            row=self.line,
            field=field,
            value=_shown(value),
            expected=expected,
        )

    def has(self, field: str) -> bool:
        """Is there a value: not absent, not null, not blank?"""
        value = self.values.get(field)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def nanoseconds(self, field: str) -> int:
        """A number of seconds >= 0, to the nearest nanosecond."""
        return round(self._number(field, limits.SECONDS) * 10**9)

    def tokens(self, field: str) -> int:
        """A number of tokens, >= 0."""
        return self.integer(field, limits.TOKENS)

    def integer(self, field: str, allowed: limits.Integers) -> int:
        """An integer among those allowed; `5.0` is one."""
        value = self._number(field, allowed)
        if value != int(value):
            raise self.error(field, str(allowed))
        return int(value)

    def text(self, field: str) -> str:
        """A text that is not blank; in JSON an integer is taken for its digits."""
        value = self.values.get(field)
        if not self.has(field) or isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.error(field, "a text")
        return str(value)

    def _number(self, field: str, allowed: limits.Numbers) -> Decimal:
        value = self.values.get(field)
        if self.kind == "csv" and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = Decimal(value.strip())
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise self.error(field, str(allowed))
        number = Decimal(value)
        if not number.is_finite() or not allowed.low <= number <= allowed.high:
            raise self.error(field, str(allowed))
        return number


def _shown(value: object) -> object:
    """A JSON value as it was written, where that is short."""
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return float(value) if isinstance(value, Decimal) else value
