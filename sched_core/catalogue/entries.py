"""What is installed: the entry points of a group, each loaded when it is chosen."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from functools import cache, lru_cache
from importlib.metadata import Distribution, entry_points

import attrs

from sched_core.catalogue.in_file import file_of, in_file
from sched_core.catalogue.plugin import SINGULAR, Plugin
from sched_core.errors import PluginLoadError, UnknownName

_NAME = re.compile(r"[\w.-]+")


def plugins(kind: str) -> list[Plugin]:
    """All plugins of `schedfw.<kind>`, by name then distribution, each loaded once.

    A plugin that cannot be loaded is in the list with its `problem`; nothing is raised for it.
    """
    return [_loaded(plugin) for plugin in _installed(kind)]


def find(kind: str, name: str) -> Plugin:
    """The usable plugin called `name`, or `distribution/name` where two share a name; or the class
    that `FILE.py:CLASS` names.

    No other plugin is loaded. Raises UnknownName (with the nearest name) or PluginLoadError (with
    the reason).
    """
    if file_of(name):
        return in_file(kind, name)
    installed = _installed(kind)
    matches = _called(name, installed)
    if not matches:
        raise UnknownName(SINGULAR[kind], name, _spellings(installed))
    if len(matches) > 1:
        choices = ", ".join(f"{p.distribution}/{p.name}" for p in matches)
        raise PluginLoadError(f"{SINGULAR[kind]} {name!r} is ambiguous; choose one of {choices}")
    plugin = _loaded(matches[0])
    if plugin.problem:
        raise PluginLoadError(
            f"{SINGULAR[kind]} {name!r} of distribution {plugin.distribution} "
            f"cannot be used: {plugin.problem}"
        )
    return plugin


def spellings(kind: str) -> list[str]:
    """What to write for each that is installed, loaded or not."""
    return list(_spellings(_installed(kind)))


def _called(name: str, installed: Sequence[Plugin]) -> list[Plugin]:
    dist, _, short = name.rpartition("/")
    return [p for p in installed if p.name == short and dist in ("", p.distribution)]


def _spellings(installed: Sequence[Plugin]) -> Iterator[str]:
    """What to write for each: its name, where that alone means it."""
    for plugin in (p for p in installed if _NAME.fullmatch(p.name)):
        alone = _called(plugin.name, installed) == [plugin]
        yield plugin.name if alone else f"{plugin.distribution}/{plugin.name}"


def _loaded(plugin: Plugin) -> Plugin:
    if not _NAME.fullmatch(plugin.name):
        problem = "its name cannot stand in a spec string; use letters, digits, '-', '_' and '.'"
        return attrs.evolve(plugin, problem=problem)
    assert plugin.entry is not None
    try:
        with redirect_stdout(sys.stderr):  # what a module prints is no part of our output
            cls = plugin.entry.load()
    except (Exception, SystemExit) as error:  # anything may happen in foreign code
        return attrs.evolve(plugin, problem=f"{type(error).__name__}: {error}")
    if isinstance(cls, type) and attrs.has(cls):
        return attrs.evolve(plugin, cls=cls)
    problem = f"{plugin.entry.value} is not an attrs class; decorate it with @attrs.define"
    return attrs.evolve(plugin, problem=problem)


def _installed(kind: str) -> Sequence[Plugin]:
    """The same, none of them loaded: what is not asked for cannot do harm."""
    return _read(kind, tuple(_dated(place) for place in sys.path))


def _dated(place: str) -> tuple[str, int]:
    """A folder of packages, and when one was last put there or removed, in nanoseconds."""
    try:
        return place, os.stat(place or ".").st_mtime_ns
    except OSError:
        return place, 0  # importlib passes over it too


@lru_cache(maxsize=8)
def _read(kind: str, _places: tuple[tuple[str, int], ...]) -> Sequence[Plugin]:
    """Reads the metadata of all that is installed: milliseconds, while a name is looked up for
    every run. What the places hold is read again when there are others, or one is changed."""
    origin = cache(_origin)
    found = {
        (entry.name, *origin(entry.dist), entry.value): entry
        for entry in entry_points(group=f"schedfw.{kind}")
    }
    return [
        Plugin(entry.name, kind, *origin(entry.dist), entry) for _, entry in sorted(found.items())
    ]


def _origin(dist: Distribution | None) -> tuple[str, str]:
    """Name and version of a distribution; `?` where its metadata are damaged."""
    return (dist.name or "?", dist.version or "?") if dist else ("?", "?")
