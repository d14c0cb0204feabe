"""The content of what a scenario names: files and plugins, as digests of their bytes.

The same content has the same digest wherever it lies, on any machine.
"""

import hashlib
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs

from sched_core import streams
from sched_core.catalogue.entries import find
from sched_core.catalogue.given import Given
from sched_core.catalogue.plugin import SINGULAR, Plugin
from sched_core.catalogue.specs import PolicySpec, parse_part, split_stack
from sched_core.errors import InputError
from sched_core.experiment.scenario import Scenario

LARGE = 64 * 2**20
"""Bytes. A larger file of a model's folder counts by its size: weights would take minutes."""
_COMPILED = (".pyc", ".so", ".pyd")


@attrs.frozen
class Part:
    """A component as a spec names it."""

    plugin: Plugin
    parameters: Mapping[str, Any]
    """Text where a spec gives them."""

    def is_file(self, name: str) -> bool:
        """Does the plugin say that this parameter stands for a file or a folder?"""
        fields = {field.alias: field for field in attrs.fields(self.plugin.cls)}
        return bool(fields[name].metadata.get("file"))


def parts(kind: str, spec: PolicySpec) -> list[Part]:
    """The components that `spec` names; only policies can be several."""
    pieces = split_stack(spec) if kind == "policies" else [spec]
    return [_part(kind, piece) for piece in pieces]


def _part(kind: str, piece: Any) -> Part:
    if isinstance(piece, Given):
        return Part(piece.plugin, piece.parameters)
    name, parameters = parse_part(piece, what=SINGULAR[kind])
    return Part(find(kind, name), parameters)


def of_files(scenario: Scenario, policies: Iterable[PolicySpec]) -> dict[str, str]:
    """The digest of every file that the scenario or one of `policies` names, by its path as
    given; of a component's file as it was loaded, with its neighbours."""
    found = _all_parts(scenario, policies)
    named = {path: _digest(path) for path in sorted(set(_named_files(scenario, found)))}
    return named | _held(found)


def once_only(files: Iterable[str]) -> list[str]:
    """Those of them that another process cannot read: pipes, and the standard input."""
    lost = [path for path in files if not streams.lasts(path) and not os.path.isdir(path)]
    return [streams.called(path) for path in lost]


def policy_files(policies: Iterable[PolicySpec]) -> dict[str, str | None]:
    """What `policies` are made of that no name of a plugin says: path -> digest of their files, and
    of the neighbours that these import; `module:class` -> that of a class that Python handed over,
    None where it cannot be read."""
    found = [part for policy in policies for part in parts("policies", policy)]
    handed = [part.plugin.cls for part in found if not (part.plugin.entry or part.plugin.files)]
    classes = {f"{cls.__module__}:{cls.__qualname__}": of_class(cls) for cls in handed}
    return {**_held(found), **classes}


def refuse_changed(scenario: Scenario, files: Mapping[str, str]) -> None:
    """Raises InputError where a component's file is no longer the one that `files` knows."""
    for path, digest in _held(_all_parts(scenario, [scenario.policy])).items():
        if files.get(path, digest) != digest:
            raise InputError(
                "has changed since this comparison began", file=path, expected="one version for all"
            )


def _held(found: Iterable[Part]) -> dict[str, str]:
    return {path: digest for part in found for path, digest in part.plugin.files.items()}


def _all_parts(scenario: Scenario, policies: Iterable[PolicySpec]) -> list[Part]:
    found = [part for policy in policies for part in parts("policies", policy)]
    found += parts("hardware", scenario.hardware)
    if isinstance(scenario.workload, str):
        found += parts("workloads", scenario.workload)
    return found


def _named_files(scenario: Scenario, found: Iterable[Part]) -> Iterator[str]:
    for part in found:
        for name, value in part.parameters.items():
            if not isinstance(value, str | os.PathLike):
                continue
            path = os.fspath(value)
            if os.path.isfile(path) or (part.is_file(name) and _can_be_read(path)):
                yield path
    if scenario.model is not None and os.path.exists(scenario.model):
        yield scenario.model


def _can_be_read(path: str) -> bool:
    return path == streams.STDIN or os.path.exists(path)


def _digest(name: str) -> str:
    """That of a file's bytes, or of a folder's files: by name, each by its bytes or size."""
    path = Path(name)
    try:
        if not path.is_dir():
            return _of_stream(name)
        files = sorted(file for file in path.iterdir() if file.is_file())
        return _of_all(
            (file.name, str(size) if (size := file.stat().st_size) > LARGE else _of_bytes(file))
            for file in files
        )
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None


def _of_stream(path: str) -> str:
    """Also of a pipe, which is read once and kept."""
    with streams.raw(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _of_bytes(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _of_all(named: Iterable[tuple[str, str]]) -> str:
    whole = hashlib.sha256()
    for name, content in named:
        whole.update(f"{name}\0{content}\0".encode(errors="surrogateescape"))
    return whole.hexdigest()


def of_class(cls: type) -> str | None:
    """The digest of the package that a class comes from; where it can be found by no name, of its
    file, or of its text, as in a notebook. None where none of them can be read."""
    if cls.__module__ != "__main__" and (whole := of_source(cls.__module__)):
        return whole
    try:
        file = inspect.getsourcefile(cls)
        if file is not None and os.path.isfile(file):
            return _of_bytes(Path(file))
        return hashlib.sha256(inspect.getsource(cls).encode()).hexdigest()
    except (OSError, TypeError):
        return None


@cache
def of_source(module: str) -> str:
    """The digest of all source and data of the package that `module` is part of.

    An editable install changes under one version, and a plugin imports its neighbours.
    """
    package = find_spec(module.partition(".")[0])
    if package is not None and package.origin is None:  # a namespace: others live in it too
        package = find_spec(module)
    if package is None or package.origin is None:
        return ""
    if package.submodule_search_locations is None:
        return _of_bytes(Path(package.origin))
    root = Path(package.origin).parent
    return _of_all((file.relative_to(root).as_posix(), _of_bytes(file)) for file in _sources(root))


def _sources(root: Path) -> list[Path]:
    """Compiled files differ between machines and say nothing new."""
    files: Any = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    return sorted(file for file in files if file.suffix not in _COMPILED)
