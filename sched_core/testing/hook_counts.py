"""What the hooks of a policy were good for: how often asked, and did they ever change anything?"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sched_core.policy.hookspecs import NO_VICTIM, SWAP
from sched_core.policy.stack import Policy
from sched_core.policy.views import RequestView
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import EngineHost

Changes = Callable[[SchedulerState, Any, tuple[Any, ...]], bool]


def _another_victim(state: SchedulerState, answer: Any, args: tuple[Any, ...]) -> bool:
    beneficiary: RequestView = args[1]
    usual: Any = NO_VICTIM
    if beneficiary.is_running:
        usual = max(state.running, key=lambda request: request.sort_key).view
    return answer is not None and answer is not usual


def _another_order(state: SchedulerState, ran: Any, _: tuple[Any, ...]) -> bool:
    return ran is not None and ran != [request.view for request in state.running]


HOOKS: dict[str, tuple[str, Changes]] = {
    "effective_priority": ("gave a key but 0", lambda _, key, args: key != 0),
    "select_admissions": ("left the order of the queue", lambda *_: False),  # as it is pulled
    "chunk_size": ("cut a chunk", lambda _, tokens, args: tokens < args[2]),
    "select_victim": ("chose another victim than the engine would", _another_victim),
    "select_preemptions": ("named anybody", lambda _, named, args: bool(named)),
    "choose_preempt_mode": ("chose SWAP", lambda _, mode, args: mode is SWAP),
    "predict_output": ("predicted", lambda _, tokens, args: tokens is not None),
    "can_admit": ("refused anybody", lambda _, allowed, args: not allowed),
    "reserve_blocks": ("asked for blocks", lambda _, blocks, args: blocks is not None),
    "order_running": ("left the order of admission", _another_order),
    "reject_request": ("rejected anybody", lambda _, reason, args: reason is not None),
    "wake_at": ("named a time to come", lambda _, seconds, args: seconds is not None),
    "step_budget": ("cut the budget", lambda _, tokens, args: tokens < args[1]),
}
"""Question -> what an answer does that changes something, and whether it is such an answer."""


class HookCounts:
    """Counts over many runs."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._changed: set[str] = set()

    def follow(self, policy: Policy) -> None:
        """Count what a policy, which has not run yet, is asked and told."""
        for name, (_, changes) in HOOKS.items():
            setattr(policy, name, partial(self._ask, policy, name, getattr(policy, name), changes))
        policy.tell = partial(self._tell, policy.tell)  # type: ignore[method-assign]

    def notes(self, hooks: frozenset[str]) -> Iterator[tuple[str, str]]:
        """(hook, what it never did) of those of which no run can have shown a fault."""
        for name in sorted(hooks):
            if not self._asked[name]:
                yield name, "never asked" if name in HOOKS else "never told"
            elif name in HOOKS and name not in self._changed:
                yield name, f"asked {self._asked[name]:,} times, never {HOOKS[name][0]}"

    def _ask(
        self, policy: Policy, name: str, ask: Callable[..., Any], changes: Changes, *args: Any
    ) -> Any:
        self._asked[name] += 1
        given, host = ask(*args), policy.host
        assert isinstance(host, EngineHost)
        answer, *who = given if isinstance(given, tuple) else (given,)
        if isinstance(answer, Iterator):
            return self._pulled(host.state, answer), *who
        if changes(host.state, answer, args):
            self._changed.add(name)
        return given

    def _pulled(
        self, state: SchedulerState, answer: Iterator[RequestView]
    ) -> Iterator[RequestView]:
        usual = iter(state.waiting)
        for request in answer:
            expected = next(usual, None)
            if expected is None or request is not expected.view:
                self._changed.add("select_admissions")
            yield request
        if next(usual, None) is not None:
            self._changed.add("select_admissions")

    def _tell(self, tell: Callable[..., None], event: str, *args: object) -> None:
        self._asked[event] += 1
        tell(event, *args)
