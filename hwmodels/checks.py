"""Validators of hardware parameters: a constant that makes no physical sense is refused at once."""

import math
from typing import Any

import attrs

from sched_core import InputError


def positive(_: object, field: "attrs.Attribute[Any]", value: float) -> None:
    """Refuse zero, negative and non-finite numbers, and what is no number."""
    _require(value, 0 < _number(value) < math.inf, field.name, "a finite number above 0")


def non_negative(_: object, field: "attrs.Attribute[Any]", value: float) -> None:
    """Refuse negative and non-finite numbers, and what is no number."""
    _require(value, 0 <= _number(value) < math.inf, field.name, "a finite number of at least 0")


def positive_int(_: object, field: "attrs.Attribute[Any]", value: int) -> None:
    """Refuse zero, negative numbers and what is no integer."""
    ok = isinstance(value, int) and not isinstance(value, bool) and value > 0
    _require(value, ok, field.name, "an integer above 0")


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else math.nan  # type: ignore[arg-type]


def _require(value: object, ok: bool, field: str, expected: str) -> None:
    if not ok:
        raise InputError("out of range", field=field, value=value, expected=expected)
