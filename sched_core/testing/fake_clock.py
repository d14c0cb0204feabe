"""What a run finds around itself and must not depend on: the clock and global random state."""

import datetime
import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from types import ModuleType
from typing import Any

import attrs
import numpy as np


@attrs.frozen
class ClockAndSeed:
    """A clock that starts at `start` and moves by `tick` seconds whenever it is read, and the
    seed of the global random generators of Python and numpy."""

    start: float = 0.0
    tick: float = 1.0
    seed: int = 0


@contextmanager
def faked(clock: ClockAndSeed, modules: Iterable[ModuleType]) -> Iterator[None]:
    """Let `modules` read this clock and draw from this seed. Nothing sleeps. (What they read from
    the operating system, such as `os.urandom`, is theirs; it shows when runs are repeated.)"""
    ticks = count()
    fakes = _fakes(lambda: clock.start + next(ticks) * clock.tick)
    states = random.getstate(), np.random.get_state()
    with ExitStack() as undo:
        undo.callback(random.setstate, states[0])
        undo.callback(np.random.set_state, states[1])
        random.seed(clock.seed)
        np.random.seed(clock.seed)
        for module in (time, datetime, *modules):
            for name, value in list(vars(module).items()):
                if id(value) in fakes:
                    undo.callback(setattr, module, name, value)
                    setattr(module, name, fakes[id(value)])
        yield


CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")


def _fakes(read: Callable[[], float]) -> dict[int, Any]:
    """id of a function or class that knows the time -> what replaces it."""

    class Datetime(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return cls.fromtimestamp(read(), tz)

        utcnow = today = now

    def read_ns() -> int:
        return round(read() * 1e9)

    def sleep(seconds: float, /) -> None:
        read()

    fakes: dict[int, Any] = {id(time.sleep): sleep, id(datetime.datetime): Datetime}
    fakes |= {id(getattr(time, name)): read for name in CLOCKS}
    return fakes | {id(getattr(time, f"{name}_ns")): read_ns for name in CLOCKS}
