"""Where checks run: on CUDA in a process of their own, which can be stopped and replaced.

A check that hangs is then ended, and one that breaks the device (an index out of range does that
for a whole process) leaves it whole for the next one.
"""

import gc
import multiprocessing
import pkgutil
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Protocol


class Answer(NamedTuple):
    """What a call returned, or the text of what it raised."""

    value: Any
    reason: str = ""
    trace: str = ""


class Caller(Protocol):
    """Calls functions by name."""

    def call(self, function: str, argument: Any, seconds: float) -> Answer:
        """The answer of `function`, such as `package.module:name`, within `seconds`."""

    def close(self) -> None: ...


class Here:
    """In this process: nothing is stopped, whatever it takes."""

    def call(self, function: str, argument: Any, seconds: float) -> Answer:
        return answered(function, argument)

    def close(self) -> None:
        pass


def answered(function: str, argument: Any) -> Answer:
    """The answer of a call, whatever happens in it."""
    try:
        return Answer(pkgutil.resolve_name(function)(argument))
    except Exception as error:  # a check may fail in any way; the others are to run all the same
        return Answer(None, f"{type(error).__name__}: {error}", traceback.format_exc())
    finally:
        _release()


def _release() -> None:
    """Give the next call the memory of this one."""
    gc.collect()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()


class Apart:
    """In a process of its own; in a new one after a call that failed or took too long."""

    def __init__(self) -> None:
        self._process: Process | None = None

    def call(self, function: str, argument: Any, seconds: float) -> Answer:
        if self._process is None:
            self._process = Process()
        answer = self._process.answer((function, argument), seconds)
        if answer.reason:
            self.close()
        return answer

    def close(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


class Process:
    """A fresh interpreter that answers calls."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def answer(self, call: tuple[str, Any], seconds: float) -> Answer:
        """What the call returns; a reason where that takes too long, or the process ends."""
        self._pipe.send(call)
        if not self._pipe.poll(seconds):
            return Answer(None, f"not done after {seconds:g} s")
        try:
            answer: Answer = self._pipe.recv()
        except EOFError:
            self._process.join()
            return Answer(None, f"its process ended with status {self._process.exitcode}")
        return answer

    def end(self) -> None:
        """Hang up, and do not wait for long."""
        self._pipe.close()
        self._process.join(1)
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection) -> None:
    with suppress(EOFError):  # nobody asks any more
        while True:
            pipe.send(answered(*pipe.recv()))
