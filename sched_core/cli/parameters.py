"""The parameters of a plugin: the fields of its attrs class."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import attrs

from sched_core.cli.output import plain


def parameters(cls: Any) -> list[dict[str, Any]]:
    """Plain JSON values per parameter of an attrs class, in the order of its fields."""
    return [_parameter(field) for field in attrs.fields(cls) if field.init]


def written(listed: Sequence[dict[str, Any]]) -> str:
    """`path=... limit= n=1000`: dots must be given, nothing may be left out."""
    return " ".join(f"{item['name']}={_default(item)}" for item in listed)


def _parameter(field: "attrs.Attribute[Any]") -> dict[str, Any]:
    required = field.default is attrs.NOTHING
    return {
        "name": field.alias,
        "type": getattr(field.type, "__name__", None) or str(field.type),
        "default": None if required else _as_json(field.default),
        "required": required,
    }


def _as_json(default: object) -> object:
    """Infinity and odd types as text."""
    finite = isinstance(default, float) and isfinite(default)
    return default if finite or default is None or isinstance(default, str | int) else str(default)


def _default(item: dict[str, Any]) -> str:
    if item["required"]:
        return "..."
    return "" if item["default"] is None else plain(item["default"])
