"""What attrs has no validator for."""

from collections.abc import Callable
from typing import Any

import attrs

from sched_core import InputError


def parsed_by(
    parse: Callable[[str], object],
) -> Callable[[Any, "attrs.Attribute[Any]", str], None]:
    """A text that `parse` takes without an InputError of its own."""

    def check(_: object, field: "attrs.Attribute[Any]", value: str) -> None:
        try:
            parse(value)
        except InputError as error:
            raise InputError(f"parameter {field.alias!r}: {error}") from None

    return check
