"""The source of a new component: the example of each hook, as its documentation has it."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from sched_core.errors import UnknownName
from sched_core.policy.binding import HOOKS
from sched_core.policy.hookspecs import Decisions, Events

_SENTENCE = re.compile(r"(.+?[.?])(\s|$)", re.DOTALL)
_WIDTH = 88


def component(class_name: str, hooks: Iterable[str], public: Iterable[str]) -> str:
    """A module with one component that implements `hooks`; it imports the names of `public`, those
    of sched_core, that it uses.

    Raises UnknownName for a hook that does not exist.
    """
    body = "\n\n".join(textwrap.indent(_method(hook), "    ") for hook in dict.fromkeys(hooks))
    used = {n.id for n in ast.walk(ast.parse(f"class _:\n{body}")) if isinstance(n, ast.Name)}
    names = ", ".join(sorted(used & set(public)))
    return (
        f"import attrs\n\nfrom sched_core import {names}\n\n\n@attrs.define\n"
        f'class {class_name}:\n    """Say here, in one line, what it does."""\n\n{body}\n'
    )


def _method(hook: str) -> str:
    """A decision is taken as in the example; of an event, only what it is."""
    if hook not in HOOKS:
        raise UnknownName("hook", hook, HOOKS)
    spec: Any = getattr(Decisions, hook, None) or getattr(Events, hook)
    about, _, example = inspect.cleandoc(spec.__doc__).partition("\n\n    ")
    head, body = _example(example) if example else (_signature(spec), "")
    asked = f'"""{_first_sentence(about)}"""'
    return f"{head}\n{textwrap.indent(asked, '    ')}\n{body}".rstrip()


def _example(text: str) -> tuple[str, str]:
    """Down to its `def`, and below it."""
    lines = inspect.cleandoc(f"    {text}").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[: start + 1]), "\n".join(lines[start + 1 :])


def _signature(spec: Any) -> str:
    return f"@hookimpl\ndef {spec.__name__}({', '.join(inspect.signature(spec).parameters)}):"


def _first_sentence(text: str) -> str:
    """Of what is asked or told, on lines that fit."""
    found = _SENTENCE.match(text)
    return textwrap.fill(" ".join((found[1] if found else text).split()), _WIDTH)
