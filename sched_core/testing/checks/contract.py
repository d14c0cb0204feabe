"""Does the policy keep the contract of the hooks?"""

import gc
from collections import deque
from collections.abc import Collection, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from sched_core.errors import PolicyError
from sched_core.scheduler.views import EngineRequestView
from sched_core.testing.behind_yield import go_on_behind_yields
from sched_core.testing.checks.registry import check
from sched_core.testing.fake_clock import faked
from sched_core.testing.key_checks import moved
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.run import Run
from sched_core.testing.trial import USUAL, Trial

TIER = "contract"


@check("H1 answers are legal", TIER)
def answers_are_legal(trial: Trial) -> Iterator[str]:
    """No hook raises, and none gives an answer that the engine cannot act on."""
    if isinstance(trial.watched.error, PolicyError):
        yield str(trial.watched.error)


def _always_asked(under_test: PolicyUnderTest) -> str | None:
    policy = under_test.policy()
    if "effective_priority" not in policy.uses:
        return "it has no effective_priority"
    return "its keys are asked again and again" if policy.moves == "time" else None


@check("H1 keys move as declared", TIER, skip=_always_asked)
def keys_move_as_declared(trial: Trial) -> Iterator[str]:
    """A waiting request that is asked again, now and a day later, has the key that the engine,
    trusting `priority_moves`, still goes by; or, where that is "clock", one as far from the
    others' as it was."""
    declared = trial.under_test.policy().moves

    def moves_unlike(declaration: str) -> str | None:
        with faked(USUAL, trial.under_test.modules()):
            return moved(trial.scenario, trial.under_test.components(), declaration)

    if found := moves_unlike(declared):
        others = [moves for moves in ("event", "clock") if declared == "static"]
        right = next((moves for moves in others if not moves_unlike(moves)), "time")
        yield f'{found}, with priority_moves = "{declared}"; "{right}" would be right'


def _offers_nobody(under_test: PolicyUnderTest) -> str | None:
    offers = "select_admissions" in under_test.policy().uses
    return None if offers else "it has no select_admissions"


@check("H1 nothing hangs on what follows a yield", TIER, skip=_offers_nobody)
def nothing_hangs_on_what_follows_a_yield(trial: Trial) -> Iterator[str]:
    """Were the code behind the last yield of `select_admissions` run, nothing would be decided
    otherwise.

    The engine comes back to a generator only for a further request: not when the last seat or the
    budget is gone, nor when a request did not fit. So a turn that passes behind the yield stays
    where it is, and one tenant is served twice. What a generator does on its way to its next
    request, before it yields that, is not looked at: a policy may well count whom it offers.
    """

    def to_the_end() -> Run:
        return trial.run(policy=go_on_behind_yields(trial.under_test.policy()))

    if found := trial.compare(to_the_end):
        yield (
            f"if the engine ran what follows the last yield of select_admissions, {found}; it may "
            "never come back there: decide before the yield, or in request_admitted"
        )


@check("H5 the ended are forgotten", TIER)
def the_ended_are_forgotten(trial: Trial) -> Iterator[str]:
    """When everyone has ended, nothing of a request is kept."""
    run = trial.watched
    if run.error is None and not run.unfinished:
        for name, component in run.policy.components:
            for kept in _kept(component, run.requests):
                yield f"{name} keeps {kept}, which has ended; forget it in request_finished"


_CLOSED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def _kept(component: object, ended: Collection[str]) -> Iterator[str]:
    """Views and ids of requests that can be reached from a component."""
    seen: set[int] = set()
    reached = deque([component])
    while reached:
        thing = reached.popleft()
        if id(thing) in seen or isinstance(thing, _CLOSED):
            continue
        seen.add(id(thing))
        if isinstance(thing, EngineRequestView):
            yield f"the view of {thing.id}"
        elif isinstance(thing, str):
            if thing in ended:
                yield f"the id {thing!r}"
        elif not type(thing).__module__.startswith("sched_core."):
            reached.extend(gc.get_referents(thing))
            reached.extend(thing if isinstance(thing, dict) else ())  # not every key is told
