"""Components that Python hands over: a class, or an instance, in place of a name."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from copy import deepcopy
from typing import Any

import attrs

from sched_core.catalogue.plugin import Plugin
from sched_core.errors import InputError, PluginLoadError, UsageError

_IDENTITY: Any = object.__eq__


@attrs.frozen
class Given:
    """A component as a class and its parameters, of which every run makes a fresh one."""

    plugin: Plugin
    parameters: Mapping[str, Any]
    """Those of an instance that are not the defaults, as they were when it was handed over."""

    @classmethod
    def of(cls, component: object) -> "Given":
        """Raises InputError for what is neither an attrs class nor an instance of one,
        PluginLoadError for an instance of which no other can be made."""
        kind = component if isinstance(component, type) else type(component)
        if not attrs.has(kind):
            raise InputError(
                "not a component",
                field="policy",
                value=component,
                expected="a name such as fcfs, an attrs class, an instance of one, or a tuple",
            )
        plugin = Plugin(kind.__name__, "policies", kind.__module__, "", cls=kind)
        if component is kind:
            return cls(plugin, {})
        found = cls(plugin, _changed(component))
        _refuse_another(component, found)
        return found

    def build(self) -> Any:
        """A fresh instance: what one run did to it, no other sees."""
        try:
            with redirect_stdout(sys.stderr):  # what it prints is no part of our output
                return self.plugin.cls(**deepcopy(dict(self.parameters)))
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # anything may happen in foreign code
            given = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
            raise InputError(
                f"policy {self.plugin.name!r}: cannot be built from {given or 'its defaults'}: "
                f"{type(error).__name__}: {error}"
            ) from error

    @property
    def shown(self) -> str:
        """As a spec would say it: `Edf:slack=2`."""
        pairs = (f"{key}={value}" for key, value in self.parameters.items())
        return ":".join((self.plugin.name, *pairs))


def _changed(component: Any) -> dict[str, Any]:
    fields = [field for field in attrs.fields(type(component)) if field.init]
    values = {field: getattr(component, field.name) for field in fields}
    try:
        return {
            field.alias: deepcopy(value)
            for field, value in values.items()
            if not _is_default(value, field.default)
        }
    except Exception as error:  # a parameter is foreign code
        raise _not_again(component, f"a parameter cannot be copied: {error}") from error


def _is_default(value: Any, default: Any) -> bool:
    """An empty container counts as made anew; other factories are foreign code, and not called."""
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type] # typed as a function
        return type(value) is default.factory and value in ({}, [], (), set())
    return _alike(value, default)


def _refuse_another(component: Any, found: Given) -> None:
    """A converter may not take its own result, or make something else of it."""
    try:
        built = found.build()
    except UsageError as error:
        raise _not_again(component, str(error)) from error
    for field in attrs.fields(type(component)):
        was, now = getattr(component, field.name), getattr(built, field.name)
        if field.init and not _alike(was, now):
            raise _not_again(component, f"parameter {field.alias!r} is then {now!r}, not {was!r}")


def _not_again(component: Any, why: str) -> PluginLoadError:
    return PluginLoadError(
        f"policy {type(component).__name__!r} cannot be built anew for each run from the values of "
        f"its parameters: {why}; give its class, or a spec string"
    )


def _alike(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if type(one).__eq__ is _IDENTITY:  # a copy is another object
        return True
    try:
        return bool(one == other)
    except Exception:  # arrays have no one truth
        return repr(one) == repr(other)
