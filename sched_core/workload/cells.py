"""Values of other libraries' tables as the plain ones that a row holds."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any


def cell(value: Any) -> object:
    """`value` as None, bool, int, Decimal, text, or a list or mapping of such.

    numpy's and pandas' numbers are those of Python; a number that is none (NaN, NaT) is None, as
    both write what is missing; points in time are texts of ISO 8601, which keep every digit.
    """
    if value is None or isinstance(value, bool | str | Decimal):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return None if value != value else Decimal(str(value))
    if isinstance(value, Mapping):
        return {key: cell(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cell(item) for item in value]
    return _of_a_library(value)


def _of_a_library(value: Any) -> object:
    if getattr(value, "ndim", 0):
        return [cell(item) for item in value.tolist()]
    if value != value:  # NaT
        return None
    if isinstance(value, datetime):
        return value.isoformat(" ")
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "M":
        return str(value).replace("T", " ")
    return bool(value) if kind == "b" else value
