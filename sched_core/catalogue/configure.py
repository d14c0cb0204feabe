"""Parameters of an attrs class, from strings or JSON values."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import cattrs

from sched_core.errors import InputError, PluginLoadError, UnknownName, UsageError


def configure(cls: Any, params: Mapping[str, object], *, where: str) -> Any:
    """`cls(**params)` with strings converted to the fields' types.

    Raises UnknownName for a parameter that is not a field, InputError for a value that does not
    convert or that the class's validators refuse, PluginLoadError for a type that names nothing.
    """
    fields = {field.alias: field for field in attrs.fields(cls) if field.init}
    for key in params:
        if key not in fields:
            raise UnknownName("parameter", key, fields, where=where)
    _require_all(fields.values(), params, where)
    values = {key: _convert(cls, fields[key], value, where) for key, value in params.items()}
    try:
        return cls(**values)
    except UsageError as error:
        raise InputError(f"{where}: {error}") from None
    except (Exception, SystemExit) as error:  # anything may happen in foreign code
        given = ", ".join(f"{key}={value}" for key, value in params.items())
        refused = isinstance(error, TypeError | ValueError)  # by a validator, which says why
        why = str(error) if refused else f"{type(error).__name__}: {error}"
        raise InputError(
            f"{where}: cannot be built from {given or 'its defaults'}: {why}"
        ) from error


def _require_all(
    fields: Iterable["attrs.Attribute[Any]"], params: Mapping[str, object], where: str
) -> None:
    missing = [f.alias for f in fields if f.default is attrs.NOTHING and f.alias not in params]
    if missing:
        raise InputError(
            f"{where}: parameter {missing[0]!r} is missing", expected=f"{missing[0]}=VALUE"
        )


def _convert(cls: Any, field: "attrs.Attribute[Any]", value: object, where: str) -> Any:
    try:
        kind = _type(cls, field.name)
    except Exception as error:  # an annotation is foreign code too
        raise PluginLoadError(
            f"{where}: parameter {field.alias!r} has no known type: annotation {field.type!r} of "
            f"{_owner(cls, field.name).__qualname__}.{field.name}: {error}"
        ) from error
    if kind is Any:
        return value
    try:
        return _CONVERTER.structure(value, kind)
    except Exception as error:  # cattrs raises many kinds; all mean the value does not fit
        raise InputError(
            f"{where}: parameter {field.alias!r} does not fit",
            value=value,
            expected=_in_words(kind),
        ) from error


@cache
def _type(cls: Any, name: str) -> Any:
    """The type of a field, also where it is text, as after `from __future__ import annotations`.

    Unlike `attrs.resolve_types` it reads this field only: others need not be known at run time.
    """
    kind = attrs.fields_dict(cls)[name].type
    if kind is None:  # not annotated
        return Any
    alone = {"__module__": _owner(cls, name).__module__, "__annotations__": {name: kind}}
    return get_type_hints(type("_", (), alone), include_extras=True)[name]


def _owner(cls: Any, name: str) -> Any:
    """The class whose body annotates the field: its module knows the names."""
    annotated = (base for base in cls.__mro__ if name in inspect.get_annotations(base))
    return next(annotated, cls)


_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


def _in_words(kind: Any) -> str:
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_in_words(part) for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    return _WORDS.get(kind) or str(kind)


def _structure_bool(value: object, _: type) -> bool:
    if isinstance(value, bool):
        return value
    try:
        return {"true": True, "false": False}[str(value).lower()]
    except KeyError:
        raise ValueError("true or false") from None


def _structure_int(value: object, _: type) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError("an integer")
    return int(value)  # type: ignore[call-overload,no-any-return] # its ValueError is the answer


def _structure_float(value: object, _: type) -> float:
    if isinstance(value, bool) or value != value or str(value).lower() == "nan":
        raise ValueError("a number")
    return float(value)  # type: ignore[arg-type] # its ValueError is the answer


_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
"""Strings and JSON values -> field types, strictly: no 1.5 for an int, no NaN, no yes/no."""
_CONVERTER.register_structure_hook(bool, _structure_bool)
_CONVERTER.register_structure_hook(int, _structure_int)
_CONVERTER.register_structure_hook(float, _structure_float)
