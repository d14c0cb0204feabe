"""Answers of hooks, checked before anybody acts on them; a bad one is a PolicyError."""

import math
import traceback
from collections.abc import Iterator
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn, cast

from sched_core.errors import Interrupted, PolicyError
from sched_core.limits import MAX_SECONDS
from sched_core.policy.views import Host, RequestView
from sched_core.request import Key


class Answers:
    """Checks what `component` said on `hook`, both by name, to the host that asked."""

    def __init__(self, components: list[tuple[str, object]]) -> None:
        self._components = dict(components)
        self.host: Host
        """Set before the first question."""

    def number(
        self, hook: str, component: str, answer: object, expected: str = "a finite number"
    ) -> float:
        """A finite number."""
        if isinstance(answer, bool) or not isinstance(answer, (int, float, Real)):
            self.refuse(hook, component, "not a number", answer, expected)
        try:
            number = float(answer)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.refuse(hook, component, "not a finite number", answer, expected)
        return number

    def key(self, hook: str, component: str, answer: object) -> Key:
        """A finite number, or a tuple of some."""
        expected = "a finite number, or a tuple of finite numbers"
        if not isinstance(answer, tuple):
            return self.number(hook, component, answer, expected)
        if not answer:
            self.refuse(hook, component, "an empty tuple", answer, expected)
        return tuple(self.number(hook, component, part, expected) for part in answer)

    def count(self, hook: str, component: str, answer: object) -> int:
        """An integer >= 0; 2.0 counts as one."""
        number = self.number(hook, component, answer)
        if number < 0 or number != int(number):
            self.refuse(hook, component, "not a count", answer, "an integer >= 0")
        return int(number)

    def time(self, hook: str, component: str, answer: object) -> float:
        """Seconds within the longest run; the past is none of it, and no fault."""
        seconds = self.number(hook, component, answer)
        if seconds > MAX_SECONDS:
            expected = f"at most {MAX_SECONDS} s, or None for never"
            self.refuse(hook, component, "beyond the longest run", answer, expected)
        return seconds

    def request(self, hook: str, component: str, answer: object, expected: str) -> RequestView:
        """The view of a request of this run."""
        if not self.host.owns(answer):
            alien = hasattr(answer, "num_computed_tokens")
            problem = "a request of another run" if alien else "not a request"
            self.refuse(hook, component, problem, answer, expected)
        return cast("RequestView", answer)

    def requests(
        self, hook: str, component: str, answer: Any, expected: str
    ) -> Iterator[RequestView]:
        """The requests of an iterable, each checked when it is pulled; it may be a generator."""
        try:
            iterator = iter(answer)
        except TypeError:
            self.refuse(hook, component, "not an iterable", answer, expected)
        seen: set[RequestView] = set()
        while True:
            try:
                item = next(iterator)
            except StopIteration:
                return
            except (PolicyError, Interrupted):  # of another hook, asked through a view
                raise
            except (Exception, SystemExit, KeyboardInterrupt) as error:
                raise self.raised(hook, component, error) from error
            request = self.request(hook, component, item, expected)
            if request in seen:  # an endless answer must not hang the run
                self.refuse(hook, component, "a request twice", item, expected)
            seen.add(request)
            yield request

    def refuse(
        self, hook: str, component: str, problem: str, value: object, expected: str
    ) -> NoReturn:
        """Raises PolicyError: what is wrong with `value`, and what would be right."""
        raise PolicyError(
            problem,
            component=component,
            hook=hook,
            value=value,
            step=self.host.step,
            time=self.host.now,
            expected=expected,
        )

    def raised(self, hook: str, component: str, error: BaseException) -> PolicyError | Interrupted:
        """What to raise where a hook raised `error` itself, or the user interrupted it."""
        place = _place(self._components[component], error)
        if isinstance(error, KeyboardInterrupt):
            return Interrupted(
                f"interrupted in component {component!r}, hook {hook!r}, step {self.host.step}, "
                f"time {self.host.now:.9g} s ({place})"
            )
        return PolicyError(
            f"raised {type(error).__name__}: {error} ({place})",
            component=component,
            hook=hook,
            step=self.host.step,
            time=self.host.now,
        )


def _place(component: object, error: BaseException) -> str:
    """File and line of the deepest call in the component's own module, or in that of a base.

    Where it lost its way, not where a library noticed; the innermost call if none is its own.
    """
    calls = list(traceback.walk_tb(error.__traceback__))
    own = (
        call
        for kind in type(component).__mro__
        for call in reversed(calls)
        if call[0].f_globals.get("__name__") == kind.__module__
    )
    frame, line = next(own, calls[-1])
    return f"{Path(frame.f_code.co_filename).name}, line {line}"
