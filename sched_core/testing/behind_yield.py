"""Runs what stands behind the last yield of an answer, which the engine does not come back to."""

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any

from sched_core.policy.stack import Policy


def go_on_behind_yields(policy: Policy) -> Policy:
    """Whenever the engine stops pulling `select_admissions` of a policy, which has not run yet,
    run the code behind that yield, and nothing that looks for the next request."""
    for call in policy.hooks["select_admissions"].calls:
        call.ask = partial(_answer, call.ask)
    return policy


def _answer(call: Callable[..., Any], *args: Any) -> Any:
    answer = call(*args)
    return _pulled(answer) if isinstance(answer, Iterator) else answer


def _pulled(answer: Iterator[Any]) -> Iterator[Any]:
    for request in answer:
        try:
            yield request
        except GeneratorExit:  # the engine stops here
            _go_on(answer)
            raise


def _go_on(answer: Iterator[Any]) -> None:
    before, rest = sys.gettrace(), _Round(sys._getframe())
    with suppress(Exception, _NextRound):  # an error that no engine runs into is none
        sys.settrace(rest.enter)
        try:
            next(answer, None)
        finally:
            sys.settrace(before)


class _NextRound(BaseException):
    """The generator is about to look for its next request."""


class _Round:
    """A trace function that ends a generator where it jumps back from its yield.

    It may jump to a loop over another generator, which then goes on behind a yield of its own.
    """

    def __init__(self, caller: FrameType) -> None:
        self._jumped = {caller}
        """Frames that may go on with a suspended generator, and with nothing else."""

    def enter(self, frame: FrameType, _event: str, _arg: object) -> Any:
        """Told of every call, and of every generator that goes on."""
        suspended = frame.f_code.co_flags & CO_GENERATOR and (
            frame.f_lineno > frame.f_code.co_firstlineno
        )
        if suspended:
            return partial(self._step, frame.f_lineno)
        if frame.f_back in self._jumped:
            raise _NextRound
        return None

    def _step(self, yielded: int, frame: FrameType, event: str, _arg: object) -> Any:
        """Told of every line that a generator reaches from its yield in line `yielded`."""
        if event == "line":
            if frame in self._jumped:
                raise _NextRound
            if frame.f_lineno <= yielded:
                self._jumped.add(frame)
        return partial(self._step, yielded)
