"""Policies that cheat, each caught by the check named for it."""

import datetime
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from admission_cheats import CHEATS as ADMISSION_CHEATS
from admission_cheats import HONEST as HONEST_ADMISSIONS
from key_cheats import (
    AgesAndIsStatic,
    AgesLate,
    AgesWithEvents,
    CountsAndIsStatic,
    CountsOthersWithEvents,
    CountsWithEvents,
)

from sched_core import (
    NO_VICTIM,
    RequestView,
    SchedulerView,
    hookimpl,
)
from sched_core.engine.engine import Engine
from sched_core.testing.checks import CHECKS
from sched_core.testing.kit import EXAMPLES
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.random_policies import RANDOM_ANSWERS, random_component
from sched_core.testing.search import first, smallest

from .time_cheats import (
    HoldsBackAndNeverWakes,
    HoldsBackAndWakes,
    HoldsBackByTheClock,
    TakesTurnsByTheClock,
    TakesTurnsWhenItSays,
)


@attrs.define(eq=False)
class ReadsTheTrueLength:
    """Shortest true output first."""

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request._request.output_len


@attrs.define(eq=False)
class ReadsTheTrueLengthOfVictims:
    """Preempts whoever has most to come, which it cannot know."""

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView | None:
        if not beneficiary.is_running:
            return None
        return max(view.victims, key=lambda r: r._request.output_len, default=None)


@attrs.define(eq=False)
class KnowsTheFuture:
    """Keeps the place of somebody who is still to come, found on the call stack."""

    @hookimpl
    def can_admit(self, view: SchedulerView) -> bool:
        return not find_engine()._arrivals or not view.running


def find_engine() -> Any:
    frame: Any = sys._getframe()
    while not isinstance(frame.f_locals.get("self"), Engine):
        frame = frame.f_back
    return frame.f_locals["self"]


@attrs.define(eq=False)
class LooksForLeaps:
    """Decides otherwise while nobody watches the steps."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.submission if find_engine().instance._watchers else -request.submission


@attrs.define(eq=False)
class MutatesAView:
    """Promotes every request that it looks at."""

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        seen = request._request
        seen.spec = attrs.evolve(seen.spec, priority=0)
        return request.prompt_len


@attrs.define(eq=False)
class MutatesWhileItYields:
    """Takes more budget between two answers."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        for request in view.waiting:
            yield request
            view._builder.budget_left += 1


@attrs.define(eq=False)
class StopsEverybody:
    """Throws the batch away."""

    @hookimpl
    def tokens_computed(self, request: RequestView) -> None:
        request._state.running.clear()


@attrs.define(eq=False)
class ReturnsAFinishedRequest:
    """Offers whom it has seen before anybody else."""

    _seen: list[RequestView] = attrs.field(init=False, factory=list)

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> list[RequestView]:
        self._seen += [request for request in view.waiting if request not in self._seen]
        return self._seen


@attrs.define(eq=False)
class ReadsTheClock:
    """Orders by the time at which it is asked."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self) -> float:
        return time.time() * 7 % 3


@attrs.define(eq=False)
class ReadsAnImportedClock:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self) -> float:
        return perf_counter() * 7 % 3


@attrs.define(eq=False)
class ReadsADate:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self) -> float:
        return datetime.datetime.now().timestamp() * 7 % 3


@attrs.define(eq=False)
class SleepsForItsOrder:
    """Lets short prompts pass by sleeping for the long ones."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        started = time.monotonic()
        time.sleep(request.prompt_len / 1e4)
        return round(time.monotonic() * 1e3) % 7 + started * 0


@attrs.define(eq=False)
class UsesGlobalRandomState:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self) -> float:
        return random.random()


@attrs.define(eq=False)
class UsesNumpysGlobalState:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self) -> float:
        return np.random.rand()


@attrs.define(eq=False)
class CountsOverRuns:
    """Serves now the front, now the back, and counts for the class, not for the run."""

    asked: ClassVar[list[int]] = [0]
    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        self.asked[0] += 1
        return request.submission * (1 if self.asked[0] % 5 else -1)


@attrs.define(eq=False)
class OrdersByHash:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return hash(request.id) % 7


@attrs.define(eq=False)
class OrdersByAddress:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return id(request) % 1009


@attrs.define(eq=False)
class OrdersByRow:
    """By the position in the file, whenever a request arrives."""

    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.submission


@attrs.define(eq=False)
class ForgetsNobody:
    _served: dict[str, int] = attrs.field(init=False, factory=dict)

    @hookimpl
    def request_admitted(self, request: RequestView) -> None:
        self._served[request.id] = 1


@attrs.define(eq=False)
class StarvesATenant:
    """Never admits tenant b."""

    @hookimpl
    def can_admit(self, request: RequestView) -> bool:
        return request.tenant != "b"


@attrs.define(eq=False)
class StarvesLongPrompts:
    """Admits nobody who has much to compute."""

    @hookimpl
    def can_admit(self, request: RequestView) -> bool:
        return request.prompt_len < 100


@attrs.define(eq=False)
class LastComeFirstServed:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return -request.arrival


def oldest(requests: Iterable[RequestView]) -> RequestView:
    return min(requests, key=lambda request: (request.arrival, request.submission))


@attrs.define(eq=False)
class PassesOverTheOldest:
    """Admits the oldest last."""

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> list[RequestView]:
        return [*view.waiting[1:], *view.waiting[:1]]


@attrs.define(eq=False)
class EvictsTheOldest:
    """For anybody, also for those who only wait."""

    @hookimpl
    def select_victim(self, view: SchedulerView) -> Any:
        return oldest(view.victims) if view.victims else NO_VICTIM


@attrs.define(eq=False)
class RunsTheOldestLast:
    """Only when nobody else is left."""

    @hookimpl
    def order_running(self, view: SchedulerView) -> list[RequestView]:
        last = oldest(view.running)
        return [request for request in view.running if request is not last] or [last]


@attrs.define(eq=False)
class GivesUpOnTheOld:
    """Whoever has waited for half a minute waits for ever."""

    @hookimpl
    def can_admit(self, view: SchedulerView, request: RequestView) -> bool:
        return view.now - request.arrival < 30


@attrs.define(eq=False)
class BreaksItsPromise:
    """Declares a bound on by-passes and does not count them."""

    max_bypasses: int = 1

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        return (request for request in view.waiting if view.fits(request))


@attrs.define(eq=False)
class IsMovedBySilence:
    """Decides by whether other components stand beside it."""

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        names = [name for name, _ in request._state.policy.components]
        return request.prompt_len if "silent" in names else 0.0


CHEATS: dict[str, list[Any]] = {
    "H1 answers are legal": [ReturnsAFinishedRequest],
    "H1 keys move as declared": [
        AgesAndIsStatic, AgesWithEvents, AgesLate, CountsAndIsStatic, CountsOthersWithEvents,
    ],
    "H1 nothing hangs on what follows a yield": [*ADMISSION_CHEATS],
    "H5 the ended are forgotten": [ForgetsNobody, ReturnsAFinishedRequest],
    "H6 no answer breaks the engine": [StopsEverybody],
    "E6 everyone ends": [
        StarvesATenant, HoldsBackAndNeverWakes, StarvesLongPrompts, GivesUpOnTheOld,
        EvictsTheOldest,
    ],
    "E6 no equal starves": [
        LastComeFirstServed, PassesOverTheOldest, EvictsTheOldest, RunsTheOldestLast,
    ],
    "G1 other processes decide alike": [OrdersByHash, OrdersByAddress],
    "G2 nothing survives a run": [CountsOverRuns],
    "G4 rows may be permuted": [OrdersByRow],
    "H2 silence changes nothing": [IsMovedBySilence],
    "H2 leaps change nothing": [LooksForLeaps, HoldsBackByTheClock, TakesTurnsByTheClock],
    "G3 true lengths stay hidden": [ReadsTheTrueLength, ReadsTheTrueLengthOfVictims],
    "G3 the future stays hidden": [KnowsTheFuture],
    "G3 the wall clock does not matter": [
        ReadsTheClock, ReadsAnImportedClock, ReadsADate, SleepsForItsOrder,
    ],
    "G3 global random state does not matter": [UsesGlobalRandomState, UsesNumpysGlobalState],
    "G3 views are only read": [MutatesAView, MutatesWhileItYields, StopsEverybody],
    "D5 by-passes are bounded": [BreaksItsPromise],
}  # fmt: skip


FEW = 10
"""Examples that find every one of them: what an author tries first."""


@pytest.mark.parametrize(
    ("name", "cheat"), [(name, cheat) for name, cheats in CHEATS.items() for cheat in cheats]
)
def test_a_cheat_is_caught(name: str, cheat: Callable[[], object]) -> None:
    found = first(PolicyUnderTest.of(cheat), [CHECKS[name]], FEW)
    assert found is not None
    assert found.check.name == name
    assert found.problem


@pytest.mark.parametrize(
    ("cheat", "declared", "right"),
    [
        (AgesAndIsStatic, "static", "clock"),
        (AgesWithEvents, "event", "time"),
        (CountsAndIsStatic, "static", "event"),
        (CountsOthersWithEvents, "event", "time"),
    ],
)
def test_what_a_key_that_moves_should_declare(cheat: Any, declared: str, right: str) -> None:
    name = "H1 keys move as declared"
    found = first(PolicyUnderTest.of(cheat), [CHECKS[name]], EXAMPLES)
    assert found is not None
    assert found.problem.startswith(f"effective_priority, in {cheat.__name__}, of r")
    assert found.problem.endswith(f'with priority_moves = "{declared}"; "{right}" would be right')


@pytest.mark.parametrize(
    ("name", "honest"),
    [
        ("E6 everyone ends", HoldsBackAndWakes),
        ("H2 leaps change nothing", HoldsBackAndWakes),
        ("H2 leaps change nothing", TakesTurnsWhenItSays),
    ],
)
def test_who_wakes_in_time_is_no_cheat(name: str, honest: Any) -> None:
    assert first(PolicyUnderTest.of(honest), [CHECKS[name]], EXAMPLES // 2) is None


def test_a_key_that_moves_with_events_only_may_say_so() -> None:
    check = CHECKS["H1 keys move as declared"]
    assert first(PolicyUnderTest.of(CountsWithEvents), [check], 50) is None


RANDOM = partial(random_component, sorted(RANDOM_ANSWERS))


@pytest.mark.parametrize("honest", [*HONEST_ADMISSIONS, RANDOM, "skip-ahead", "vtc"])
def test_what_is_kept_before_a_yield_is_no_cheat(honest: Any) -> None:
    check = CHECKS["H1 nothing hangs on what follows a yield"]
    assert first(PolicyUnderTest.of(honest), [check], EXAMPLES // 2) is None


def test_a_threshold_is_found_and_shown() -> None:
    name = "E6 everyone ends"
    under_test = PolicyUnderTest.of(StarvesLongPrompts)
    found = first(under_test, [CHECKS[name]], EXAMPLES)
    assert found is not None
    workload: Any = smallest(found, under_test, EXAMPLES).scenario.workload
    (request,) = workload.requests
    assert (request.prompt_len // 10, request.output_len) == (10, 1)


def test_every_check_of_policies_has_a_cheat() -> None:
    """The invariants' own faults are in test_invariants_catch."""
    of_policies = {check.name for check in CHECKS.values() if check.tier != "invariants"}
    assert of_policies <= set(CHEATS)
