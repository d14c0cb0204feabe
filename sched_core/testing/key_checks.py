"""Asks keys of waiting requests again where the engine, by `priority_moves`, need not."""

from math import isclose
from operator import sub
from typing import NamedTuple

import attrs

from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.experiment.scenario import Scenario
from sched_core.policy.stack import Policy
from sched_core.policy.views import RequestView
from sched_core.request import Key
from sched_core.scheduler.views import EngineHost
from sched_core.testing.run import run_scenario

MUCH_LATER = 86_400.0
"""Seconds: few keys that move with time are the same after a day."""


class Asked(NamedTuple):
    """What was answered when a key was asked for."""

    key: Key
    now: float
    """Seconds."""
    predictions: dict[str, float | None]
    """What `predicted_output` said meanwhile, by request. A prediction that gets better while a
    request waits does not make its key untrue: `sjf` reads it once on purpose."""


class AskingPolicy(Policy):
    """Keeps what the engine asks for keys, and asks them again."""

    def __init__(self, components: list[tuple[str, object]], moves: str) -> None:
        super().__init__(components)
        self.moves = moves
        self.declares = attrs.evolve(self.declares, moves=moves, may_leap_past_waiting=False)
        (self._keys_from, *_) = self.hooks["effective_priority"].components
        self._asked: dict[str, Asked] = {}
        self._predictions: dict[str, float | None] | None = None

    def effective_priority(self, request: RequestView, now: float) -> Key:
        """As the engine asks it."""
        self._asked[request.id] = asked = self._ask_key(request, now, {})
        return asked.key

    def _ask_key(
        self, request: RequestView, now: float, predictions: dict[str, float | None]
    ) -> Asked:
        self._predictions = predictions
        try:
            return Asked(super().effective_priority(request, now), now, predictions)
        finally:
            self._predictions = None

    def predict_output(self, request: RequestView) -> float | None:
        """Within one key, and when it is asked again, the same prediction."""
        known = self._predictions
        if known is None:
            return super().predict_output(request)
        if request.id not in known:
            known[request.id] = super().predict_output(request)
        return known[request.id]

    def moved(self, request: RequestView, now: float, *, touched: bool) -> str | None:
        """How a waiting request's key has moved; where something happened to it since it was
        asked for, how it moves with time."""
        first = self._asked[request.id]
        if touched:
            first = self._ask_key(request, now, first.predictions)
        for later in (now, now + MUCH_LATER):
            again = self._ask_key(request, later, first.predictions)
            if again.key != first.key:
                return (
                    f"effective_priority, in {self._keys_from}, of {request.id} "
                    f"is {_shown(first.key)} at {first.now:.9g} s and {_shown(again.key)} "
                    f"at {later:.9g} s"
                )
        return None

    def drifted(self, request: RequestView, other: RequestView, now: float) -> str | None:
        """How the keys of two waiting requests have moved apart, which time should move alike."""
        asked = self._asked[request.id], self._asked[other.id]
        first = _apart(asked[0].key, asked[1].key)
        for later in (now, now + MUCH_LATER):
            mine, its = (
                self._ask_key(each, later, was.predictions).key
                for each, was in zip((request, other), asked, strict=True)
            )
            apart = _apart(mine, its)
            if not all(map(_is_close, apart, first, _parts(mine))):
                return (
                    f"effective_priority, in {self._keys_from}, of {request.id} is {_shown(first)} "
                    f"above that of {other.id} at 0 s, and {_shown(apart)} at {later:.9g} s"
                )
        return None


def _parts(key: Key) -> tuple[float, ...]:
    return key if isinstance(key, tuple) else (key,)


def _apart(key: Key, other: Key) -> tuple[float, ...]:
    return tuple(map(sub, _parts(key), _parts(other)))


def _is_close(apart: float, first: float, key: float) -> bool:
    return isclose(apart, first, rel_tol=1e-6, abs_tol=1e-6 * abs(key))


def _shown(key: Key) -> str:
    numbers = [f"{number:.9g}" for number in _parts(key)]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"


class _AskAgain(Watcher):
    """Asks after every step for the keys of all that wait; keeps how the first has moved."""

    single_steps = True

    def __init__(self, policy: AskingPolicy) -> None:
        self._policy = policy
        self.found: str | None = None

    def stepped(self, record: StepRecord) -> None:
        host = self._policy.host
        assert isinstance(host, EngineHost)
        waiting, policy = host.state.waiting.ordered(), self._policy
        for request in waiting:
            if policy.moves == "clock":
                how = policy.drifted(request.view, waiting[0].view, host.now)
            else:
                touched = request.tenant in host.state.touched_tenants
                how = policy.moved(request.view, host.now, touched=touched)
            self.found = self.found or how


def moved(scenario: Scenario, components: list[tuple[str, object]], moves: str) -> str | None:
    """How the first key in a run moves otherwise than `moves` says; None if all keep to it."""
    watcher = _AskAgain(policy := AskingPolicy(components, moves))
    run_scenario(scenario, policy, watcher=watcher)
    return watcher.found
