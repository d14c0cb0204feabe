"""attrs validators for the parameters of workloads; each raises InputError."""

from collections.abc import Callable
from typing import Any

import attrs

from sched_core import InputError

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def at_least(low: float) -> Validator:
    """None, or a number >= `low`."""
    return _number(lambda value: value >= low, f"a number >= {low}")


def above(low: float) -> Validator:
    """None, or a number > `low`; infinity is one."""
    return _number(lambda value: value > low, f"a number > {low}")


def finite_above(low: float) -> Validator:
    """None, or a finite number > `low`."""
    return _number(lambda value: low < value < float("inf"), f"a finite number > {low}")


def parsed_by(parse: Callable[[str], object]) -> Validator:
    """None, or a text that `parse` takes without an InputError of its own."""

    def check(_: object, field: "attrs.Attribute[Any]", value: str | None) -> None:
        if value is None:
            return
        try:
            parse(value)
        except InputError as error:
            raise InputError(f"parameter {field.alias!r}: {error}") from None

    return check


def _number(accepts: Callable[[float], bool], expected: str) -> Validator:
    def check(_: object, field: "attrs.Attribute[Any]", value: float | None) -> None:
        if value is not None and not accepts(value):
            raise InputError("out of range", field=field.alias, value=value, expected=expected)

    return check
