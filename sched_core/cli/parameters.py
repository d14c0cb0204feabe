"""The parameters of a plugin: the fields of its attrs class."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import attrs

from sched_core.cli.output import plain


def parameters(cls: Any, instance: object = None) -> list[dict[str, Any]]:
    """Plain JSON values per parameter of an attrs class, in the order of its fields.

    With an instance, its `value` of each as well.
    """
    fields = [field for field in attrs.fields(cls) if field.init]
    if instance is None:
        return [_parameter(field) for field in fields]
    return [{**_parameter(f), "value": _as_json(getattr(instance, f.name))} for f in fields]


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


def _as_json(value: object) -> object:
    """Infinity and odd types as text."""
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type] # typed as a function
        return _made(value)
    finite = isinstance(value, float) and isfinite(value)
    return value if finite or value is None or isinstance(value, str | int) else str(value)


def _made(default: Any) -> str:
    """An empty container as it is written; other factories are foreign code, and not called."""
    empty = default.factory in (dict, list, set, tuple)
    return str(default.factory()) if empty else "computed"


def _default(item: dict[str, Any]) -> str:
    if item["required"]:
        return "..."
    return "" if item["default"] is None else plain(item["default"])
