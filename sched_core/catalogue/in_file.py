"""Components that are not installed: a class in a Python file, `./edf.py:Edf`."""

import hashlib
import sys
import traceback
from contextlib import redirect_stdout
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from sched_core.catalogue.plugin import Plugin
from sched_core.errors import PluginLoadError, UnknownName
from sched_core.files import read_text


def is_file(name: str) -> bool:
    """Does a name mean a class in a file: `./edf.py:Edf`, or `./edf.py` alone?"""
    return name.endswith(".py") or ".py:" in name


def in_file(kind: str, name: str) -> Plugin:
    """The class that `./edf.py:Edf` names; `./edf.py` will do where the file defines only one.

    Raises InputError for a file that cannot be read, PluginLoadError with file and line for one
    that does not load, UnknownName for a class that is not there.
    """
    stem, dot, wanted = name.partition(".py")
    path, wanted = stem + dot, wanted.removeprefix(":")
    source = hashlib.sha256(read_text(path).encode()).hexdigest()
    module = _loaded(str(Path(path).resolve()), path, source)
    classes = _components(module)
    if not wanted and len(classes) != 1:
        listed = ", ".join(classes) or "none"
        raise PluginLoadError(
            f"{path}: it defines {len(classes)} attrs classes ({listed}); say which one, as in "
            f"{path}:{next(iter(classes), 'Edf')}"
        )
    wanted = wanted or next(iter(classes), "")
    if wanted not in classes:
        raise _missing(path, wanted, module, classes)
    cls = classes[wanted]
    return Plugin(f"{path}:{wanted}", kind, path, source[:12], cls=cls, source=source)


def _missing(
    path: str, wanted: str, module: ModuleType, classes: dict[str, Any]
) -> PluginLoadError | UnknownName:
    there = getattr(module, wanted, None)
    if isinstance(there, type) and there.__module__ == module.__name__:
        return PluginLoadError(
            f"{path}: {wanted} is not an attrs class; decorate it with @attrs.define"
        )
    return UnknownName("class", wanted, classes, where=path)


def _components(module: ModuleType) -> dict[str, Any]:
    """The attrs classes that the file itself defines, in its order."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if isinstance(thing, type)
        and attrs.has(thing)
        and thing.__module__ == module.__name__
        and not name.startswith("_")
    }


@cache
def _loaded(place: str, path: str, digest: str) -> ModuleType:
    """The module, loaded once for each content; it may import its neighbours.

    Its name is its own: files of one name do not get in each other's way.
    """
    name = f"{Path(place).stem}_{digest[:12]}_{hashlib.sha256(place.encode()).hexdigest()[:6]}"
    spec = spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # type hints and pickles look there
    sys.path.insert(0, str(Path(place).parent))
    try:
        with redirect_stdout(sys.stderr):  # what a module prints is no part of our output
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # anything may happen in foreign code
        del sys.modules[name]
        raise PluginLoadError(f"{_where(place, path, error)}: {_what(error)}") from error
    finally:
        sys.path.remove(str(Path(place).parent))
    return module


def _where(place: str, path: str, error: BaseException) -> str:
    """The deepest line of the file itself that took part."""
    if isinstance(error, SyntaxError) and error.filename == place:
        return f"{path}, line {error.lineno}"
    calls = traceback.extract_tb(error.__traceback__)
    lines = [call.lineno for call in calls if call.filename == place]
    return f"{path}, line {lines[-1]}" if lines else path


def _what(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"it cannot be loaded: {type(error).__name__}: {text}"
