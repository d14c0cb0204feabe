"""A stack of components, bound to one run: every question a typed method, every answer checked."""

from collections.abc import Iterator
from math import isfinite
from types import FrameType
from typing import Any

from sched_core.catalogue import specs
from sched_core.errors import Interrupted, PolicyError
from sched_core.execution.plan import NOBODY, PreemptMode
from sched_core.policy.answers import Answers
from sched_core.policy.binding import Call, Hook, bind
from sched_core.policy.declarations import Declarations
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE
from sched_core.policy.views import Host, RequestView
from sched_core.request import WAITING_STATES, Key

_ADMITTED = "requests of view.waiting, each once"
_ORDERED = "requests of view.running, each at most once"


class Policy:
    """What the components of one stack answer, for one run.

    A method returns None, or what that stands for, where no component has an opinion. A hook that
    raises, and an answer that the engine cannot act on, is a PolicyError naming component, hook,
    value, step and time.
    """

    def __init__(self, components: list[tuple[str, object]]) -> None:
        self.components = components
        self.hooks = bind(components)
        self.declares = Declarations.of(components, self.hooks)
        self.uses = frozenset(name for name, hook in self.hooks.items() if hook)
        """Hooks that a component implements: the others need not be asked."""
        self.moves = self.declares.moves
        """How the waiting queue's key moves: one of `declarations.MOVES`."""
        self._answers = Answers(components)
        self._width: int | None = None
        """Numbers in a key that is a tuple; 0 where keys are numbers, None before the first."""

    @classmethod
    def from_spec(cls, spec: specs.PolicySpec) -> "Policy":
        """A fresh policy from a stack such as `priority+adaptive`; the leftmost is asked first."""
        return cls([(name, build()) for name, build in specs.stack(spec)])

    @property
    def oracle(self) -> bool:
        """Does a component see the true output length?"""
        return bool(self.declares.oracles)

    def attach(self, host: Host) -> None:
        """Tell the policy who asks from now on."""
        self._answers.host = host

    @property
    def host(self) -> Host:
        """Who asks."""
        return self._answers.host

    def answered(self) -> dict[str, list[str]]:
        """hook -> the components that answered it at least once, in the order asked."""
        return {name: answered for name, hook in self.hooks.items() if (answered := hook.answered)}

    # -- questions ------------------------------------------------------------------------------

    def effective_priority(self, request: RequestView, now: float) -> Key:
        """The queue's key; 0 where nobody has an opinion."""
        answer, who = self._ask(self.hooks["effective_priority"], request, now)
        if type(answer) is float and self._width == 0 and isfinite(answer):
            return answer
        return self._key(who, answer)

    def _key(self, who: str, answer: Any) -> Key:
        """Keys are compared, so all of a run are numbers, or tuples of as many."""
        key = self._answers.key("effective_priority", who, 0.0 if answer is None else answer)
        width = len(key) if isinstance(key, tuple) else 0
        if self._width is None:
            self._width = width
        if width != self._width:
            before = f"a tuple of {self._width}" if self._width else "a number, as None is"
            problem = "a key unlike those before"
            self._answers.refuse("effective_priority", who, problem, answer, before)
        return key

    def select_admissions(self, view: Any) -> tuple[Iterator[RequestView] | None, str]:
        """Waiting requests to admit, pulled one by one, and who chose them."""
        answer, who = self._ask(self.hooks["select_admissions"], view)
        return (None if answer is None else self._waiting(who, answer)), who

    def _waiting(self, who: str, answer: Any) -> Iterator[RequestView]:
        for request in self._answers.requests("select_admissions", who, answer, _ADMITTED):
            if request.state not in WAITING_STATES:
                problem = "not a waiting request"
                self._answers.refuse("select_admissions", who, problem, request, _ADMITTED)
            yield request

    def chunk_size(self, view: Any, request: RequestView, limit: int) -> int:
        """Prefill tokens for this step, 0..limit."""
        answer, who = self._ask(self.hooks["chunk_size"], view, request, limit)
        if answer is None:
            return limit
        if type(answer) is int and 0 <= answer <= limit:
            return answer
        return min(limit, self._answers.count("chunk_size", who, answer))

    def select_victim(self, view: Any, beneficiary: RequestView) -> tuple[Any, str]:
        """A running request, NO_VICTIM or None, and who said so."""
        answer, who = self._ask(self.hooks["select_victim"], view, beneficiary)
        if answer is None or answer is NO_VICTIM:
            return answer, who
        expected = "a running request, NO_VICTIM or None"
        victim = self._answers.request("select_victim", who, answer, expected)
        if not self.host.may_be_preempted(victim):
            problem, expected = "this request cannot be preempted", "one of view.victims"
            self._answers.refuse("select_victim", who, problem, answer, expected)
        return victim, who

    def select_preemptions(self, view: Any) -> tuple[list[RequestView], str]:
        """Running requests that lose their place, and who named them."""
        answer, who = self._ask(self.hooks["select_preemptions"], view)
        if answer is None:
            return [], who
        named = list(self._answers.requests("select_preemptions", who, answer, _ORDERED))
        for request in named:
            if not self.host.may_be_preempted(request):
                self._answers.refuse("select_preemptions", who, "not running", request, _ORDERED)
        return named, who

    def choose_preempt_mode(self, view: Any, victim: RequestView) -> tuple[PreemptMode, str]:
        """RECOMPUTE unless a component says otherwise, and who said so."""
        answer, who = self._ask(self.hooks["choose_preempt_mode"], view, victim)
        if answer is None:
            return RECOMPUTE, who
        if not isinstance(answer, PreemptMode):
            self._answers.refuse(
                "choose_preempt_mode", who, "not a mode", answer, "RECOMPUTE or SWAP"
            )
        return answer, who

    def predict_output(self, request: RequestView) -> float | None:
        """Predicted output tokens in all."""
        hook = self.hooks["predict_output"]
        for call in hook.calls:
            reveal = self.host.true_output_len if call.who in self.declares.oracles else None
            answer = self._call(hook, call, request, reveal)
            if answer is not None:
                call.answers += 1
                number = self._answers.number("predict_output", call.who, answer)
                if number < 0:
                    expected = "tokens >= 0"
                    self._answers.refuse("predict_output", call.who, "negative", answer, expected)
                return number
        return None

    def can_admit(self, view: Any, request: RequestView) -> bool:
        """True unless a component objects."""
        if not self.hooks["can_admit"].calls:
            return True
        answer, who = self._ask(self.hooks["can_admit"], view, request)
        if answer is None:
            return True
        if not isinstance(answer, bool):
            self._answers.refuse("can_admit", who, "not a yes or no", answer, "True or False")
        return answer

    def reserve_blocks(self, view: Any, request: RequestView) -> int | None:
        """Blocks that must be free for an admission."""
        if not self.hooks["reserve_blocks"].calls:
            return None
        answer, who = self._ask(self.hooks["reserve_blocks"], view, request)
        return None if answer is None else self._answers.count("reserve_blocks", who, answer)

    def order_running(self, view: Any) -> list[RequestView] | None:
        """Running requests that take part in this step, in order."""
        answer, who = self._ask(self.hooks["order_running"], view)
        if answer is None:
            return None
        if answer is view.running:
            return None
        if type(answer) is list and self.host.all_running(answer):
            return answer
        chosen = list(self._answers.requests("order_running", who, answer, _ORDERED))
        for request in chosen:
            if not request.is_running:
                self._answers.refuse("order_running", who, "not running", request, _ORDERED)
        return chosen

    def step_budget(self, view: Any, limit: int) -> int:
        """Tokens that this step may compute, 1..limit."""
        answer, who = self._ask(self.hooks["step_budget"], view)
        if answer is None:
            return limit
        budget = self._answers.count("step_budget", who, answer)
        if budget < 1:
            self._answers.refuse("step_budget", who, "no budget", answer, "at least 1 token")
        return min(budget, limit)

    def reject_request(self, view: Any, request: RequestView) -> str | None:
        """Why a request is turned away; None if it is not."""
        answer, who = self._ask(self.hooks["reject_request"], view, request)
        if answer is not None and not (isinstance(answer, str) and answer.strip()):
            expected = "a text that says why, or None to keep the request"
            self._answers.refuse("reject_request", who, "not a reason", answer, expected)
        return answer

    def wake_at(self, view: Any) -> float | None:
        """The earliest time to come, in seconds, that a component names."""
        hook, times = self.hooks["wake_at"], []
        for call in hook.calls:
            answer = self._call(hook, call, view)
            if answer is not None:
                call.answers += 1
                times.append(self._answers.time("wake_at", call.who, answer))
        return min((time for time in times if time > self.host.now), default=None)

    # -- events ---------------------------------------------------------------------------------

    def tell(self, event: str, *args: object) -> None:
        """Let every observer of `event` know."""
        hook = self.hooks[event]
        for call in hook.calls:
            self._call(hook, call, *args)
            call.answers += 1

    # -- calls ----------------------------------------------------------------------------------

    def _ask(self, hook: Hook, *args: object) -> tuple[Any, str]:
        """The first answer that is not None, and whose it is; NOBODY's where no component has any.

        A hook without components costs no more than this call.
        """
        for call in hook.calls:
            try:
                answer = call.ask(*args)
            except (PolicyError, Interrupted):  # of another hook, asked through a view
                raise
            except (Exception, SystemExit, KeyboardInterrupt) as error:
                raise self._answers.raised(hook.name, call.who, error) from error
            if answer is not None:
                call.answers += 1
                return answer, call.who
        return None, NOBODY

    def _call(self, hook: Hook, call: Call, *args: object) -> Any:
        try:
            return call.ask(*args)
        except (PolicyError, Interrupted):
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            raise self._answers.raised(hook.name, call.who, error) from error


def asked_in(frame: FrameType | None) -> tuple[str, str] | None:
    """The innermost hook that runs in a frame or above it, and the component; None if none does."""
    while frame is not None:
        if frame.f_code in _CALLS:
            seen = frame.f_locals
            if "call" in seen:  # not yet, where another thread looks
                return seen["hook"].name, seen["call"].who
        if frame.f_code is _PULLS:
            return frame.f_locals["hook"], frame.f_locals["component"]
        frame = frame.f_back
    return None


_CALLS = (Policy._ask.__code__, Policy._call.__code__)
_PULLS = Answers.requests.__code__
