"""Entry points -> components, and spec strings such as `priority:aging=30+adaptive`."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import cattrs

from sched_core.errors import InputError, PluginLoadError, UnknownName, UsageError

_SINGULAR = {"policies": "policy", "hardware": "hardware", "workloads": "workload"}
_OURS = "schedfw/"
_NAME = re.compile(r"[\w.-]+")
_STACK = re.compile(r"(?<![\d.][eE])(?<!=)\+|\+(?!\d)")  # not the plus of 1e+3, nor that of =+3


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
    return [_loaded(plugin) for plugin in _installed(kind)]


def _installed(kind: str) -> list[Plugin]:
    """The same, none of them loaded: what is not asked for cannot do harm."""
    found = {
        (entry.name, *_origin(entry), entry.value): entry
        for entry in entry_points(group=f"schedfw.{kind}")
    }
    return [Plugin(entry.name, kind, *_origin(entry), entry) for _, entry in sorted(found.items())]


def _origin(entry: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution; `?` where its metadata are damaged."""
    dist = entry.dist
    return (dist.name or "?", dist.version or "?") if dist else ("?", "?")


def _loaded(plugin: Plugin) -> Plugin:
    if not _NAME.fullmatch(plugin.name):
        problem = "its name cannot stand in a spec string; use letters, digits, '-', '_' and '.'"
        return attrs.evolve(plugin, problem=problem)
    try:
        with redirect_stdout(sys.stderr):  # what a module prints is no part of our output
            cls = plugin.entry.load()
    except (Exception, SystemExit) as error:  # anything may happen in foreign code
        return attrs.evolve(plugin, problem=f"{type(error).__name__}: {error}")
    if isinstance(cls, type) and attrs.has(cls):
        return attrs.evolve(plugin, cls=cls)
    problem = f"{plugin.entry.value} is not an attrs class; decorate it with @attrs.define"
    return attrs.evolve(plugin, problem=problem)


def find(kind: str, name: str) -> Plugin:
    """The usable plugin called `name`, or `distribution/name` where two share a name.

    No other plugin is loaded. Raises UnknownName (with the nearest name) or PluginLoadError (with
    the reason).
    """
    installed = _installed(kind)
    matches = _called(name, installed)
    if not matches:
        raise UnknownName(_SINGULAR[kind], name, _spellings(installed))
    if len(matches) > 1:
        choices = ", ".join(f"{p.distribution}/{p.name}" for p in matches)
        raise PluginLoadError(f"{_SINGULAR[kind]} {name!r} is ambiguous; choose one of {choices}")
    plugin = _loaded(matches[0])
    if plugin.problem:
        raise PluginLoadError(
            f"{_SINGULAR[kind]} {name!r} of distribution {plugin.distribution} "
            f"cannot be used: {plugin.problem}"
        )
    return plugin


def _called(name: str, installed: Sequence[Plugin]) -> list[Plugin]:
    dist, _, short = name.rpartition("/")
    return [p for p in installed if p.name == short and dist in ("", p.distribution)]


def _spellings(installed: Sequence[Plugin]) -> Iterator[str]:
    """What to write for each: its name, where that alone means it."""
    for plugin in (p for p in installed if _NAME.fullmatch(p.name)):
        alone = _called(plugin.name, installed) == [plugin]
        yield plugin.name if alone else f"{plugin.distribution}/{plugin.name}"


def shown(spec: str) -> str:
    """A spec as reports print it: without the distribution where that is schedfw."""
    return spec.removeprefix(_OURS)


def split_stack(spec: str) -> list[str]:
    """The parts of a policy stack: `sjf+adaptive` -> [`sjf`, `adaptive`]."""
    return _STACK.split(spec)


def parse_part(part: str, *, what: str) -> tuple[str, dict[str, str]]:
    """`name:key=value:key=value` -> (name, {key: value}); raises InputError on other shapes.

    A value may hold colons, as in `device=cuda:1`: without `=` a piece belongs to the value before.
    """
    name, *pairs = part.split(":")
    if not name:
        raise InputError("empty name", field=what, value=part, expected="name:key=value:key=value")
    params: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if params and not equals:
            params[next(reversed(params))] += f":{pair}"
            continue
        if not equals or not key or key in params:
            problem = f"parameter {key!r} given twice" if key in params else "not a parameter"
            raise InputError(problem, field=what, value=pair, expected="key=value, each key once")
        params[key] = value
    return name, params


def build(kind: str, spec: str) -> Any:
    """The component that one part of a spec string names, with its parameters set."""
    *_, builder = _builder(kind, spec)
    return builder()


def stack(spec: str) -> list[tuple[str, Callable[[], Any]]]:
    """The name of each component of a policy, and what builds a fresh one, leftmost first."""
    found = [_builder("policies", part) for part in split_stack(spec)]
    if len({(p.distribution, p.name) for _, p, _ in found}) < len(found):
        raise InputError("a component stands twice in the stack", field="policy", value=spec)
    return [(shown(name), builder) for name, _, builder in found]


def _builder(kind: str, part: str) -> tuple[str, Plugin, Callable[[], Any]]:
    name, params = parse_part(part, what=_SINGULAR[kind])
    plugin = find(kind, name)
    where = f"{_SINGULAR[kind]} {name!r}"
    return name, plugin, partial(configure, plugin.cls, params, where=where)


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
        return converter.structure(value, kind)
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
