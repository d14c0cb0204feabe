"""A stack of components, bound to one run: every question a typed method, every answer checked."""

import math
import traceback
from collections.abc import Callable, Iterator
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sched_core.catalogue import specs
from sched_core.errors import PluginLoadError, PolicyError
from sched_core.execution.plan import PreemptMode
from sched_core.limits import NANOSECONDS
from sched_core.policy.binding import Hook, bind
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE
from sched_core.request import Request, RequestState
from sched_core.scheduler.views import RequestView
from sched_core.scheduler.waiting import WAITING_STATES

if TYPE_CHECKING:
    from sched_core.scheduler.state import SchedulerState

MOVES = ("static", "event", "time")


class Policy:
    """What the components of one stack answer, for one run.

    A method returns None where no component has an opinion. A hook that raises, and an answer
    that the engine cannot act on, is a PolicyError naming component, hook, value, step and time.
    """

    def __init__(self, components: list[tuple[str, object]]) -> None:
        self.components = components
        self.hooks = bind(components)
        self.oracle = any(getattr(component, "oracle", False) for _, component in components)
        """Does a component see the true output length?"""
        self._oracles = {name for name, c in components if getattr(c, "oracle", False)}
        self.moves = _moves(components, self.hooks["effective_priority"])
        """How the waiting queue's key moves: one of MOVES."""
        self._state: SchedulerState  # set by `attach`
        self.uses = frozenset(name for name, hook in self.hooks.items() if hook)
        """Hooks that a component implements: the others need not be asked."""

    @classmethod
    def from_spec(cls, spec: str) -> "Policy":
        """A fresh policy from a stack such as `priority+adaptive`; the leftmost is asked first."""
        return cls([(name, build()) for name, build in specs.stack(spec)])

    def attach(self, state: "SchedulerState") -> None:
        """Tell the policy which engine it serves."""
        self._state = state

    def decider(self, hook: str) -> str:
        """Who gave the last answer to a question: a component, or "default"."""
        return self.hooks[hook].asked or "default"

    def answered(self) -> dict[str, list[str]]:
        """hook -> the components that answered it at least once, in the order asked."""
        return {
            name: [part for part in hook.components if part in hook.answered]
            for name, hook in self.hooks.items()
            if hook.answered
        }

    # -- questions ------------------------------------------------------------------------------

    def effective_priority(self, request: RequestView, now: float) -> float:
        """The queue's key; 0 where nobody has an opinion."""
        answer = self._ask("effective_priority", request, now)
        if answer is None:
            return 0.0
        return self._number("effective_priority", answer)

    def select_admissions(self, view: Any) -> Iterator[Request] | None:
        """Requests to admit, pulled one by one."""
        answer = self._ask("select_admissions", view)
        return None if answer is None else self._waiting(answer)

    def _waiting(self, answer: Any) -> Iterator[Request]:
        expected = "requests of view.waiting, each once"
        for request in self._pull("select_admissions", answer, expected):
            if request.state not in WAITING_STATES:
                raise self._bad(
                    "select_admissions", "not a waiting request", request.view, expected
                )
            yield request

    def chunk_size(self, view: Any, request: RequestView, limit: int) -> int:
        """Prefill tokens for this step, 0..limit."""
        answer = self._ask("chunk_size", view, request, limit)
        return limit if answer is None else min(limit, self._count("chunk_size", answer))

    def select_victim(self, view: Any, beneficiary: RequestView) -> Any:
        """A running Request, NO_VICTIM, or None."""
        answer = self._ask("select_victim", view, beneficiary)
        if answer is None or answer is NO_VICTIM:
            return answer
        victim = self._member("select_victim", answer, "a running request, NO_VICTIM or None")
        if not self._state.may_be_preempted(victim):
            problem, expected = "this request cannot be preempted", "one of view.victims"
            raise self._bad("select_victim", problem, answer, expected)
        return victim

    def choose_preempt_mode(self, view: Any, victim: RequestView) -> PreemptMode:
        """RECOMPUTE unless a component says otherwise."""
        answer = self._ask("choose_preempt_mode", view, victim)
        if answer is None:
            return RECOMPUTE
        if not isinstance(answer, PreemptMode):
            raise self._bad("choose_preempt_mode", "not a mode", answer, "RECOMPUTE or SWAP")
        return answer

    def predict_output(self, request: RequestView) -> float | None:
        """Predicted output tokens in all."""
        hook = self.hooks["predict_output"]
        for name, call in hook.calls:
            reveal = _true_output_len if name in self._oracles else None
            answer = self._guard(hook, name, call, request, reveal)
            if answer is not None:
                hook.answered[name] = None
                number = self._number("predict_output", answer)
                if number < 0:
                    raise self._bad("predict_output", "negative", answer, "tokens >= 0")
                return number
        return None

    def can_admit(self, view: Any, request: RequestView) -> bool:
        """True unless a component objects."""
        answer = self._ask("can_admit", view, request)
        if answer is None:
            return True
        if not isinstance(answer, bool):
            raise self._bad("can_admit", "not a yes or no", answer, "True or False")
        return answer

    def reserve_blocks(self, view: Any, request: RequestView) -> int | None:
        """Blocks that must be free for an admission."""
        answer = self._ask("reserve_blocks", view, request)
        return None if answer is None else self._count("reserve_blocks", answer)

    def order_running(self, view: Any) -> list[Request]:
        """Running requests that take part in this step, in order."""
        answer = self._ask("order_running", view)
        if answer is None:
            return list(self._state.running)
        expected = "requests of view.running, each at most once"
        chosen = list(self._pull("order_running", answer, expected))
        for request in chosen:
            if request.state is not RequestState.RUNNING:
                raise self._bad("order_running", "not running", request.view, expected)
        return chosen

    def step_budget(self, view: Any, limit: int) -> int:
        """Tokens that this step may compute, 1..limit."""
        answer = self._ask("step_budget", view)
        if answer is None:
            return limit
        budget = self._count("step_budget", answer)
        if budget < 1:
            raise self._bad("step_budget", "no budget", answer, "at least 1 token")
        return min(budget, limit)

    # -- events ---------------------------------------------------------------------------------

    def tell(self, event: str, *args: object) -> None:
        """Let every observer of `event` know."""
        hook = self.hooks[event]
        for name, call in hook.calls:
            self._guard(hook, name, call, *args)
            hook.answered[name] = None

    # -- checks ---------------------------------------------------------------------------------

    def _ask(self, name: str, *args: object) -> Any:
        hook = self.hooks[name]
        try:
            return hook.ask(*args)
        except PolicyError:  # of another hook, asked through a view
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(name, error) from error

    def _guard(self, hook: Hook, name: str, call: Callable[..., Any], *args: object) -> Any:
        hook.asked = name
        try:
            return call(*args)
        except PolicyError:
            raise
        except (Exception, SystemExit) as error:
            raise self._raised(hook.name, error) from error

    def _pull(self, hook: str, answer: Any, expected: str) -> Iterator[Request]:
        """The requests of an iterable answer, each checked; the iterable may be a generator."""
        try:
            iterator = iter(answer)
        except TypeError:
            raise self._bad(hook, "not an iterable", answer, expected) from None
        seen: set[Request] = set()
        while True:
            try:
                item = next(iterator)
            except StopIteration:
                return
            except PolicyError:
                raise
            except (Exception, SystemExit) as error:
                raise self._raised(hook, error) from error
            request = self._member(hook, item, expected)
            if request in seen:  # an endless answer must not hang the run
                raise self._bad(hook, "a request twice", item, expected)
            seen.add(request)
            yield request

    def _member(self, hook: str, answer: object, expected: str) -> Request:
        if not isinstance(answer, RequestView):
            raise self._bad(hook, "not a request", answer, expected)
        if answer._state is not self._state:
            raise self._bad(hook, "a request of another run", answer, expected)
        return answer._request

    def _number(self, hook: str, answer: object) -> float:
        if isinstance(answer, bool) or not isinstance(answer, (int, float, Real)):
            raise self._bad(hook, "not a number", answer, "a finite number")
        try:
            number = float(answer)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._bad(hook, "not a finite number", answer, "a finite number")
        return number

    def _count(self, hook: str, answer: object) -> int:
        number = self._number(hook, answer)
        if number < 0 or number != int(number):
            raise self._bad(hook, "not a count", answer, "an integer >= 0")
        return int(number)

    def _bad(self, hook: str, problem: str, value: object, expected: str) -> PolicyError:
        state = self._state
        return PolicyError(
            problem,
            component=self.hooks[hook].asked,
            hook=hook,
            value=value,
            step=state.step,
            time=state.now_ns / NANOSECONDS,
            expected=expected,
        )

    def _raised(self, hook: str, error: BaseException) -> PolicyError:
        state, name = self._state, self.hooks[hook].asked
        place = _place(dict(self.components)[name], error)
        return PolicyError(
            f"raised {type(error).__name__}: {error} ({place})",
            component=name,
            hook=hook,
            step=state.step,
            time=state.now_ns / NANOSECONDS,
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


def _moves(components: list[tuple[str, object]], hook: Hook) -> str:
    """How the key of the components that order the queue moves: the most restless counts."""
    used = {
        name: getattr(component, "priority_moves", "time")
        for name, component in components
        if name in hook.components
    }
    for name, moves in used.items():
        if moves not in MOVES:
            raise PluginLoadError(
                f"component {name!r} does not keep the contract: priority_moves is {moves!r}; "
                f"it must be one of {MOVES}"
            )
    return max(used.values(), key=MOVES.index, default="static")


def _true_output_len(request: RequestView) -> int:
    """Handed to components that declare `oracle = True` only."""
    return request._request.output_len
