"""Spec strings such as `priority:aging=30+adaptive`, and the components they name."""

import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from itertools import chain
from typing import Any

from sched_core.catalogue.configure import configure
from sched_core.catalogue.entries import find
from sched_core.catalogue.given import Given
from sched_core.catalogue.in_file import file_of
from sched_core.catalogue.plugin import SINGULAR, Plugin
from sched_core.errors import InputError

_OURS = "schedfw/"
_PATH = re.compile(r"[./~]|[A-Za-z]:[\\/]|[^:]*[\\]")
"""How a part begins that is meant for a file."""
_FILE_FORM = "a path that ends in .py, without ':', '+' or ',', such as ./edf.py:Edf"
_STACK = re.compile(r"(?<![\d.][eE])(?<!=)\+|\+(?!\d)")  # not the plus of 1e+3, nor that of =+3


PolicySpec = str | tuple[str | Given, ...]
"""A stack: as text, or as parts that are names or were handed over."""


def policy_spec(policy: object) -> PolicySpec:
    """A stack as it may be handed over: a text, a class or an instance, or a tuple of such.

    Raises InputError for anything else.
    """
    if isinstance(policy, str):
        return policy
    parts = policy if isinstance(policy, tuple | list) else (policy,)
    if not parts:
        raise InputError("is empty", field="policy", value=policy, expected="a name such as fcfs")
    return tuple(p if isinstance(p, str | Given) else Given.of(p) for p in parts)


def shown(spec: str) -> str:
    """One part as reports print it: without the distribution where that is schedfw."""
    return spec.removeprefix(_OURS)


def shown_stack(spec: PolicySpec) -> str:
    """A policy as reports print it, each part likewise."""
    parts = split_stack(spec)
    return "+".join(part.shown if isinstance(part, Given) else shown(part) for part in parts)


def split_stack(spec: PolicySpec) -> list[str | Given]:
    """The parts of a policy stack: `sjf+adaptive` -> [`sjf`, `adaptive`]."""
    parts = (spec,) if isinstance(spec, str) else spec
    split = (split_text(part) if isinstance(part, str) else [part] for part in parts)
    return list(chain.from_iterable(split))


def split_text(spec: str) -> list[str]:
    """The parts of a stack that is all text."""
    return _STACK.split(spec)


def parse_part(part: str, *, what: str) -> tuple[str, dict[str, str]]:
    """`name:key=value:key=value` -> (name, {key: value}); raises InputError on other shapes.

    A value may hold colons, as in `device=cuda:1`: without `=` a piece belongs to the value before.
    A name may be a file, and a class in it: `./edf.py:Edf:slack=2`.
    """
    name, pairs = _named(part, what)
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


def _named(part: str, what: str) -> tuple[str, list[str]]:
    """The name, and what follows it between colons."""
    file = file_of(part)
    if file is None:
        if _PATH.match(part):
            raise InputError("is no Python file", field=what, value=part, expected=_FILE_FORM)
        name, *pairs = part.split(":")
        return name, pairs
    _, *pairs = part[len(file) :].split(":")
    classes = [f":{pairs.pop(0)}"] if pairs and pairs[0] and "=" not in pairs[0] else []
    return "".join([file, *classes]), pairs


def seen_from(folder: str, spec: str) -> str:
    """A policy whose relative files lie below `folder`, as seen from where we are."""
    return "+".join(
        part if (file := file_of(part)) is None else _joined(folder, file) + part[len(file) :]
        for part in split_text(spec)
    )


def _joined(folder: str, file: str) -> str:
    path = os.path.expanduser(file)
    return path if os.path.isabs(path) or not folder else os.path.normpath(f"{folder}/{path}")


def build(kind: str, spec: str) -> Any:
    """The component that one part of a spec string names, with its parameters set."""
    *_, builder = _builder(kind, spec)
    return builder()


def stack(spec: PolicySpec) -> list[tuple[str, Callable[[], Any]]]:
    """The name of each component of a policy, and what builds a fresh one, leftmost first."""
    found = [_builder("policies", part) for part in split_stack(spec)]
    if len({(p.distribution, p.name) for _, p, _ in found}) < len(found):
        raise InputError(
            "a component stands twice in the stack", field="policy", value=shown_stack(spec)
        )
    return [(shown(name), builder) for name, _, builder in found]


def _builder(kind: str, part: str | Given) -> tuple[str, Plugin, Callable[[], Any]]:
    if isinstance(part, Given):
        return part.plugin.name, part.plugin, part.build
    name, params = parse_part(part, what=SINGULAR[kind])
    if kind == "workloads" and os.path.isfile(part):
        raise InputError("a file, and no workload", value=part, expected=f"trace:path={part}")
    plugin = find(kind, name)
    name = plugin.name if plugin.files else name  # with the class, where that was left out
    where = f"{SINGULAR[kind]} {shown(name)!r}"
    return name, plugin, partial(_configured, plugin.cls, params, where)


def _configured(cls: Any, params: dict[str, str], where: str) -> Any:
    with redirect_stdout(sys.stderr):  # what it prints is no part of our output
        return configure(cls, params, where=where)
