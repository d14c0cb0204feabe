"""Who takes the time of a run: a look at the thread that runs it, every now and then.

Nothing is wrapped and nothing of the run is touched, so it is as fast, and the same, without.
"""

import sys
from collections import Counter
from threading import Event, Thread, get_ident
from time import perf_counter
from types import TracebackType
from typing import Self

import attrs

from sched_core.policy.stack import Policy, asked_in

EVERY = 0.02
"""Seconds between two looks."""
LONG = 2.0
"""Seconds that a run takes before anybody asks what they went into."""


@attrs.frozen
class TimeSpent:
    """Of a run that took long: how long, and whose they were most of all."""

    seconds: float
    """On the wall."""
    share: float
    """Of all hooks, 0..1; the rest is the engine's."""
    hook: str | None
    """That took most; None if none was seen."""
    component: str | None
    hook_share: float
    answers: int

    def __str__(self) -> str:
        engine = f"the engine {_percent(1 - self.share)}"
        if self.hook is None:
            return f"{self.seconds:.1f} s, {engine}"
        most = f"{self.hook} of {self.component!r} {_percent(self.hook_share)}"
        return f"{self.seconds:.1f} s, {most} ({self.answers:,} answers), {engine}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


class TimeKeeper:
    """Watches the thread that enters it until it leaves."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._seen: Counter[tuple[str, str] | None] = Counter()
        self._over = Event()
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._start = perf_counter()
        self._thread = Thread(target=self._look, args=(get_ident(),), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self.seconds = perf_counter() - self._start
        self._over.set()
        self._thread.join()

    def _look(self, thread: int) -> None:
        while not self._over.wait(EVERY):
            self._seen[asked_in(sys._current_frames().get(thread))] += 1

    @property
    def spent(self) -> TimeSpent | None:
        """None of a run that did not take long."""
        looks = self._seen.total()
        if self.seconds < LONG or not looks:
            return None
        hooks = [(count, *asked) for asked, count in self._seen.items() if asked is not None]
        count, hook, component = max(hooks, default=(0, None, None))
        answers = self._answers(hook, component) if hook else 0
        share = sum(each for each, *_ in hooks) / looks
        return TimeSpent(self.seconds, share, hook, component, count / looks, answers)

    def _answers(self, hook: str, component: str | None) -> int:
        calls = self._policy.hooks[hook].calls
        return sum(call.answers for call in calls if call.who == component)
