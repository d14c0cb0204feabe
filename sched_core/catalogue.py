"""Entry points -> components, and spec strings such as `priority:aging=30+adaptive`."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import cattrs

from sched_core.errors import InputError, PluginLoadError, UnknownName, UsageError

GROUPS = ("policies", "hardware", "workloads", "exporters")

_STACK = re.compile(r"\+(?=[A-Za-z])")  # a plus inside a number, as in 1e+3, does not stack


@attrs.frozen
class Plugin:
    """One entry point, loaded or not."""

    name: str
    group: str
    distribution: str
    version: str
    entry: EntryPoint = attrs.field(repr=False)
    problem: str | None = None
    """Why it cannot be used; None when it can."""
    cls: Any = attrs.field(default=None, repr=False)

    @property
    def summary(self) -> str:
        """First line of the class's docstring."""
        return ((self.cls.__doc__ or "").strip().splitlines() or [""])[0] if self.cls else ""


def plugins(kind: str) -> list[Plugin]:
    """All plugins of `schedfw.<kind>`, by name then distribution, each loaded once.

    A plugin that cannot be loaded is in the list with its `problem`; nothing is raised for it.
    """
    found = {
        (entry.name, *_origin(entry), entry.value): entry
        for entry in entry_points(group=f"schedfw.{kind}")
    }
    return [_load(kind, found[key]) for key in sorted(found)]


def _origin(entry: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution; `?` where its metadata are damaged."""
    dist = entry.dist
    return (dist.name or "?", dist.version or "?") if dist else ("?", "?")


def _load(kind: str, entry: EntryPoint) -> Plugin:
    cls, problem = None, None
    try:
        cls = entry.load()
    except (Exception, SystemExit) as error:  # anything may happen in foreign code
        problem = f"{type(error).__name__}: {error}"
    else:
        if not (isinstance(cls, type) and attrs.has(cls)):
            problem = f"{entry.value} is not an attrs class; decorate it with @attrs.define"
    return Plugin(entry.name, kind, *_origin(entry), entry, problem, None if problem else cls)


def find(kind: str, name: str) -> Plugin:
    """The usable plugin called `name`, or `distribution/name` where two share a name.

    Raises UnknownName (with the nearest name) or PluginLoadError (with the reason).
    """
    everything = plugins(kind)
    dist, _, short = name.rpartition("/")
    matches = [p for p in everything if p.name == short and dist in ("", p.distribution)]
    if not matches:
        raise UnknownName(_singular(kind), name, (p.name for p in everything))
    if len(matches) > 1:
        choices = ", ".join(f"{p.distribution}/{p.name}" for p in matches)
        raise PluginLoadError(f"{_singular(kind)} {name!r} is ambiguous; choose one of {choices}")
    (plugin,) = matches
    if plugin.problem:
        raise PluginLoadError(
            f"{_singular(kind)} {name!r} of distribution {plugin.distribution} "
            f"cannot be used: {plugin.problem}"
        )
    return plugin


def _singular(kind: str) -> str:
    return {"policies": "policy", "workloads": "workload", "exporters": "exporter"}.get(kind, kind)


def split_stack(spec: str) -> list[str]:
    """The parts of a policy stack: `sjf+adaptive` -> [`sjf`, `adaptive`]."""
    return _STACK.split(spec)


def parse_part(part: str, *, what: str) -> tuple[str, dict[str, str]]:
    """`name:key=value:key=value` -> (name, {key: value}); raises InputError on other shapes."""
    name, *pairs = part.split(":")
    if not name:
        raise InputError("empty name", field=what, value=part, expected="name:key=value:key=value")
    params: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or key in params:
            problem = f"parameter {key!r} given twice" if key in params else "not a parameter"
            raise InputError(problem, field=what, value=pair, expected="key=value, each key once")
        params[key] = value
    return name, params


def build(kind: str, spec: str) -> Any:
    """The component that one part of a spec string names, with its parameters set."""
    _, builder = _builder(kind, spec)
    return builder()


def stack(spec: str) -> list[tuple[str, Callable[[], Any]]]:
    """The name of each component of a policy, and what builds a fresh one, leftmost first."""
    found = [_builder("policies", part) for part in split_stack(spec)]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise InputError("a component stands twice in the stack", field="policy", value=spec)
    return found


def _builder(kind: str, part: str) -> tuple[str, Callable[[], Any]]:
    name, params = parse_part(part, what=_singular(kind))
    where = f"{_singular(kind)} {name!r}"
    return name, partial(configure, find(kind, name).cls, params, where=where)


def configure(cls: Any, params: Mapping[str, object], *, where: str) -> Any:
    """`cls(**params)` with strings converted to the fields' types.

    Raises UnknownName for a parameter that is not a field, InputError for a value that does not
    convert or that the class's validators refuse.
    """
    fields = {field.alias: field for field in attrs.fields(cls) if field.init}
    for key in params:
        if key not in fields:
            raise UnknownName("parameter", key, fields, where=where)
    _require_all(fields.values(), params, where)
    values = {key: _convert(fields[key], value, where) for key, value in params.items()}
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


converter = cattrs.Converter(forbid_extra_keys=True)
"""Strings and JSON values -> field types, strictly: no 1.5 for an int, no NaN, no yes/no."""
converter.register_structure_hook(bool, _structure_bool)
converter.register_structure_hook(int, _structure_int)
converter.register_structure_hook(float, _structure_float)


def _convert(field: "attrs.Attribute[Any]", value: object, where: str) -> Any:
    if field.type in (None, Any):
        return value
    try:
        return converter.structure(value, field.type)
    except Exception as error:  # cattrs raises many kinds; all mean the value does not fit
        raise InputError(
            f"{where}: parameter {field.alias!r} does not fit",
            value=value,
            expected=_in_words(field.type),
        ) from error


_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


def _in_words(kind: Any) -> str:
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_in_words(part) for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    return _WORDS.get(kind) or str(kind)
