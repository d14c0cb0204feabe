"""Every error that schedfw raises on purpose, and the exit code that the command line gives it."""

import difflib
import reprlib
from collections.abc import Iterable
from typing import Any


class SchedfwError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 1

    def __reduce__(self) -> Any:
        """Copied as it stands, for the way out of a worker process: `__init__` makes the text."""
        return _copied, (type(self), self.args, self.__dict__)


def _copied(kind: type[SchedfwError], args: tuple[Any, ...], state: dict[str, Any]) -> SchedfwError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class UsageError(SchedfwError):
    """The caller asked for something that does not exist or cannot work; nothing has run."""

    exit_code = 2


class InputError(UsageError):
    """A value in a file, a spec string or a configuration is wrong.

    The message names, as far as they are known, the place (`file`, `row`, `field`), the `value`
    found and what would be right (`expected`). Rows count from 1 and include a header line, so
    that they are the line numbers an editor shows.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: object = None,
        row: int | None = None,
        field: str | None = None,
        value: object = None,
        expected: str | None = None,
    ) -> None:
        places = (
            str(file) if file is not None else "",
            f"line {row}" if row is not None else "",
            f"field {field!r}" if field is not None else "",
        )
        where = ", ".join(place for place in places if place)
        found = f" (found {value!r})" if value is not None else ""
        advice = f"; expected {expected}" if expected else ""
        super().__init__(f"{where + ': ' if where else ''}{problem}{found}{advice}")


class UnknownName(UsageError):
    """A name that is not in a list of known ones; the message says which one was likely meant."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "") -> None:
        options = sorted(known)
        prefix = f"{where}: " if where else ""
        listed = ", ".join(options) or "none"
        hint = did_you_mean(name, options)
        super().__init__(f"{prefix}unknown {kind} {name!r}{hint} (known: {listed})")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What a message about the unknown `name` goes on with; empty where no known one is close."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


class PluginLoadError(UsageError):
    """A plugin was chosen that could not be loaded or does not keep the contract."""


class PolicyError(SchedfwError):
    """A policy component gave an answer that the engine cannot act on, or none: it raised."""

    def __init__(
        self,
        problem: str,
        *,
        component: str,
        hook: str,
        value: object = None,
        step: int,
        time: float,
        expected: str | None = None,
    ) -> None:
        self.component, self.hook, self.value = component, hook, value
        self.step, self.time = step, time
        answer = f" (answered {reprlib.repr(value)}); expected {expected}" if expected else ""
        super().__init__(
            f"component {component!r}, hook {hook!r}, step {step}, time {time:.9g} s: "
            f"{problem}{answer}"
        )


class Interrupted(KeyboardInterrupt):
    """The user interrupted a hook; the message names component, hook, step, time and line."""


class NoProgress(SchedfwError):
    """Two steps in a row granted nothing and no future event can change that, or a policy asks for
    step after step by `wake_at` and grants nothing in any."""
