"""Components that are not installed: a class in a Python file, `./edf.py:Edf`."""

import re
from typing import Any

import attrs

from sched_core.catalogue import source_files
from sched_core.catalogue.plugin import Plugin
from sched_core.errors import PluginLoadError, UnknownName

_FILE = re.compile(r"((?:[A-Za-z]:(?=[\\/]))?[^:]*\.py)(?=:|$)")
"""How a name begins that is a file's; the colon of a drive is no separator."""
_MARK = "schedfw_impl"
"""What pluggy's `HookimplMarker` leaves on a method."""


def file_of(spec: str) -> str | None:
    """The file that a name, or a spec, begins with: `./edf.py` of `./edf.py:Edf:slack=2`."""
    found = _FILE.match(spec)
    return found[1] if found else None


def in_file(kind: str, name: str) -> Plugin:
    """The class that `./edf.py:Edf` names; `./edf.py` will do where the file has one component.

    Raises InputError for a file that cannot be read, PluginLoadError with file and line for one
    that does not load, UnknownName for a class that is not there.
    """
    path = file_of(name) or name
    source = source_files.load(path)
    wanted = name[len(path) + 1 :] or _only(path, source.classes())
    cls = getattr(source.module, wanted, None)
    if cls is None:
        known = [each for each, found in source.classes().items() if attrs.has(found)]
        raise UnknownName("class", wanted, known, where=path)
    if not (isinstance(cls, type) and attrs.has(cls)):
        raise PluginLoadError(
            f"{path}: {wanted} is not an attrs class; decorate it with @attrs.define"
        )
    files = source.digests(path)
    return Plugin(f"{path}:{wanted}", kind, path, files[path][:12], cls=cls, files=files)


def _only(path: str, classes: dict[str, Any]) -> str:
    """The one with hooks, of several classes; the only attrs class, where none has hooks."""
    public = {name: cls for name, cls in classes.items() if not name.startswith("_")}
    marked = [name for name, cls in public.items() if _has_hooks(cls)]
    names = marked or [name for name, cls in public.items() if attrs.has(cls)]
    if len(names) == 1:
        return names[0]
    listed = ", ".join(names) or "none"
    raise PluginLoadError(
        f"{path}: it defines {len(names)} components ({listed}); say which one, as in "
        f"{path}:{next(iter(names), 'Edf')}"
    )


def _has_hooks(cls: type) -> bool:
    return any(hasattr(getattr(cls, name, None), _MARK) for name in dir(cls))
