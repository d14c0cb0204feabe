"""Spec strings such as `priority:aging=30+adaptive`, and the components they name."""

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from sched_core.catalogue.configure import configure
from sched_core.catalogue.entries import SINGULAR, Plugin, find
from sched_core.errors import InputError

_OURS = "schedfw/"
_STACK = re.compile(r"(?<![\d.][eE])(?<!=)\+|\+(?!\d)")  # not the plus of 1e+3, nor that of =+3


def shown(spec: str) -> str:
    """One part as reports print it: without the distribution where that is schedfw."""
    return spec.removeprefix(_OURS)


def shown_stack(spec: str) -> str:
    """A policy as reports print it, each part likewise."""
    return "+".join(map(shown, split_stack(spec)))


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
    name, params = parse_part(part, what=SINGULAR[kind])
    if kind == "workloads" and os.path.isfile(part):
        raise InputError("a file, and no workload", value=part, expected=f"trace:path={part}")
    plugin = find(kind, name)
    where = f"{SINGULAR[kind]} {shown(name)!r}"
    return name, plugin, partial(configure, plugin.cls, params, where=where)
