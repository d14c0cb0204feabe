"""Does the policy keep the contract of the hooks?"""

import gc
from collections import deque
from collections.abc import Collection, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from sched_core.binding import unmarked
from sched_core.errors import PolicyError
from sched_core.testing.checks.registry import check
from sched_core.testing.trial import Trial
from sched_core.view import RequestView

TIER = "contract"


@check("H1 answers are legal", TIER)
def answers_are_legal(trial: Trial) -> Iterator[str]:
    """No hook raises, and none gives an answer that the engine cannot act on."""
    if isinstance(trial.watched.error, PolicyError):
        yield str(trial.watched.error)


@check("H4 hooks are marked", TIER)
def hooks_are_marked(trial: Trial) -> Iterator[str]:
    """A method with the name of a hook and without @hookimpl is never called."""
    for name, component in trial.subject.components():
        for hook in unmarked(component):
            yield f"{name} has a method {hook!r} that is not marked with @hookimpl"


@check("H5 the ended are forgotten", TIER)
def the_ended_are_forgotten(trial: Trial) -> Iterator[str]:
    """When everyone has ended, nothing of a request is kept."""
    played = trial.watched
    if played.error is None and not played.unfinished:
        for name, component in played.policy.components:
            for kept in _kept(component, played.requests):
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
        if isinstance(thing, RequestView):
            yield f"the view of {thing.id}"
        elif isinstance(thing, str):
            if thing in ended:
                yield f"the id {thing!r}"
        elif not type(thing).__module__.startswith("sched_core."):
            reached.extend(gc.get_referents(thing))
            reached.extend(thing if isinstance(thing, dict) else ())  # not every key is told
