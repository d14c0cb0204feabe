"""Policies that are legal and random: they answer anything that the contract allows."""

from collections.abc import Callable, Iterable
from typing import Any

import attrs
from hypothesis import strategies as st

from sched_core.execution.plan import PreemptMode
from sched_core.policy.hookspecs import NO_VICTIM, RECOMPUTE, SWAP, Decisions, hookimpl
from sched_core.policy.views import RequestView, SchedulerView


def _shuffled(view: SchedulerView, requests: Iterable[RequestView]) -> list[RequestView]:
    listed = list(requests)
    view.rng.shuffle(listed)
    return listed


def _effective_priority(request: RequestView) -> float:
    return (request.num_output_tokens * 7 + request.prompt_len) % 5


def _key_of_two(request: RequestView) -> tuple[float, float]:
    return request.prompt_len % 3, -request.num_output_tokens


def _select_admissions(view: SchedulerView) -> Iterable[RequestView]:
    for request in _shuffled(view, view.waiting):
        if view.fits(request):
            yield request


def _chunk_size(view: SchedulerView, limit: int) -> int:
    return int(view.rng.integers(1, limit + 3))


def _select_victim(view: SchedulerView, beneficiary: RequestView) -> Any:
    choices = view.victims
    if not choices or (not beneficiary.is_running and view.rng.random() < 0.8):
        return NO_VICTIM
    return choices[int(view.rng.integers(len(choices)))]


def _select_preemptions(view: SchedulerView) -> list[RequestView]:
    return [request for request in _shuffled(view, view.running) if view.rng.random() < 0.05]


def _choose_preempt_mode(view: SchedulerView) -> PreemptMode:
    return SWAP if view.rng.random() < 0.5 else RECOMPUTE


def _can_admit(view: SchedulerView) -> bool:
    return not view.running or bool(view.rng.random() < 0.8)


def _reserve_blocks(view: SchedulerView) -> int:
    return int(view.rng.integers(0, view.free_blocks + 1))


def _order_running(view: SchedulerView) -> list[RequestView]:
    listed = _shuffled(view, view.running)
    return listed[: 1 + int(view.rng.integers(len(listed)))]


def _step_budget(view: SchedulerView) -> int:
    low = 1
    if not view.running:  # with chunking off an idle engine must fit a whole prompt
        low = max((request.num_tokens for request in view.waiting), default=1)
    return low + int(view.rng.integers(64))


def _reject_request(view: SchedulerView) -> str | None:
    return "drawn by lot" if view.rng.random() < 0.05 else None


def _wake_at(view: SchedulerView) -> float | None:
    return view.now + int(view.rng.integers(-1, 4)) if view.rng.random() < 0.8 else None


RANDOM_ANSWERS: dict[str, Callable[..., Any]] = {
    "effective_priority": _effective_priority,
    "select_admissions": _select_admissions,
    "chunk_size": _chunk_size,
    "select_victim": _select_victim,
    "select_preemptions": _select_preemptions,
    "choose_preempt_mode": _choose_preempt_mode,
    "can_admit": _can_admit,
    "reserve_blocks": _reserve_blocks,
    "order_running": _order_running,
    "step_budget": _step_budget,
    "reject_request": _reject_request,
    "wake_at": _wake_at,
}
"""A legal, random answer to every question."""


def random_component(
    hooks: Iterable[str], moves: str = "time", *, keys_of_two: bool = False
) -> object:
    """A component that answers `hooks` at random, from the run's own seed."""
    answers = {name: RANDOM_ANSWERS[name] for name in hooks}
    if keys_of_two and "effective_priority" in answers:
        answers["effective_priority"] = _key_of_two
    return _component("Random", answers, moves)


def silent_component() -> object:
    """A component that is asked everything and has no opinion."""
    questions = (name for name in vars(Decisions) if not name.startswith("_"))
    return _component("Silent", dict.fromkeys(questions, lambda: None), "static")


def _component(name: str, answers: dict[str, Callable[..., Any]], moves: str) -> object:
    body = {hook: hookimpl(staticmethod(answer)) for hook, answer in answers.items()}
    return attrs.define(eq=False)(type(name, (), {"priority_moves": moves, **body}))()


def policies() -> st.SearchStrategy[object]:
    """Components that answer any choice of hooks at random."""
    hooks = st.sets(st.sampled_from(sorted(RANDOM_ANSWERS)), min_size=1)
    moves = st.sampled_from(("time", "event"))
    return st.builds(random_component, hooks.map(sorted), moves, keys_of_two=st.booleans())
