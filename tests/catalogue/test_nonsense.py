"""Nonsense from every hook: each ends in one error that names component, hook, value and step."""

import statistics
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from harness import Served, serve

from sched_core import NO_VICTIM, NoProgress, PolicyError, RequestView, hookimpl, toolbox
from sched_core.policy.binding import HOOKS
from sched_core.policy.hookspecs import Events
from sched_core.policy.stack import Policy

TIGHT = "R0(32,32,@0) R1(32,32,@0) R2(5,3,@2) R3(5,3,@90)"
"""R1 is preempted at 17 s; R3 comes when all others have gone."""


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")

    def __float__(self) -> float:
        raise RuntimeError("no number")


async def later() -> None:
    raise AssertionError("never awaited")


@attrs.define(eq=False)
class Keeper:
    """Keeps the first request it sees, for whoever hands it in when it is gone."""

    kept: RequestView | None = None

    @hookimpl
    def request_arrived(self, request: RequestView) -> None:
        self.kept = self.kept or request


def component(**answers: Callable[..., Any]) -> Any:
    body = {name: hookimpl(staticmethod(answer)) for name, answer in answers.items()}
    return attrs.define(eq=False)(type("Silly", (), body))()


def serve_stack(*components: Any, **settings: Any) -> Served:
    named = [(f"silly{index or ''}", each) for index, each in enumerate(components)]
    return serve(TIGHT, Policy(named), **{"num_gpu_blocks": 6, **settings})


def stranger() -> RequestView:
    """A request of another run."""
    keeper = Keeper()
    serve("X(4,1,@0)", Policy([("keeper", keeper)]))
    assert keeper.kept is not None
    return keeper.kept


NOT_NUMBERS = [
    "1", "ode", b"1", True, float("nan"), float("inf"), -float("inf"), 10**400, 1j, object(), [],
    [1.0], {}, np.array([1, 2]), np.float64("nan"), np.bool_(True), Unprintable(), int, NO_VICTIM,
]  # fmt: skip
NOT_COUNTS = [*NOT_NUMBERS, -1, 1.5, np.int64(-3), np.float32(0.25)]
NOT_REQUESTS = [
    1,
    "R0",
    object(),
    True,
    float("nan"),
    [],
    None.__class__,
    Unprintable(),
    stranger(),
]
NOT_ITERABLES = [0, 1.5, True, object(), Unprintable(), NO_VICTIM, stranger()]

VALUES: dict[str, list[Any]] = {
    "effective_priority": NOT_NUMBERS,
    "select_admissions": [*NOT_ITERABLES, *[[value] for value in NOT_REQUESTS], [None], "R0"],
    "chunk_size": NOT_COUNTS,
    "select_victim": NOT_REQUESTS,
    "choose_preempt_mode": [*NOT_REQUESTS, "swap", "recompute", 0, False],
    "can_admit": [0, 1, "yes", None.__class__, float("nan"), [], Unprintable(), np.array([True])],
    "reserve_blocks": NOT_COUNTS,
    "order_running": [*NOT_ITERABLES, *[[value] for value in NOT_REQUESTS], [None], "R0"],
    "step_budget": [*NOT_COUNTS, 0],
}


@pytest.mark.parametrize(
    ("hook", "value"),
    [
        pytest.param(hook, value, id=f"{hook}-{index}-{type(value).__name__}")
        for hook, values in VALUES.items()
        for index, value in enumerate(values)
    ],
)
def test_a_value_that_means_nothing(hook: str, value: Any) -> None:
    with pytest.raises(PolicyError, match=f"component 'silly', hook '{hook}', step ") as caught:
        serve_stack(component(**{hook: lambda: value}))
    error = caught.value
    assert (error.component, error.hook) == ("silly", hook)
    assert "(answered " in str(error)
    assert "; expected " in str(error)
    assert len(str(error)) < 400


@pytest.mark.filterwarnings("ignore:coroutine 'later' was never awaited")
@pytest.mark.parametrize("hook", sorted(VALUES))
def test_a_coroutine_is_no_answer(hook: str) -> None:
    with pytest.raises(PolicyError, match=f"hook '{hook}'.*coroutine"):
        serve_stack(component(**{hook: later}))


def elsewhere(view: Any) -> Any:
    return view.waiting[0] if len(view.waiting) else None


WRONG_REQUESTS: list[tuple[str, Any, str]] = [
    ("select_victim", lambda view: elsewhere(view), "cannot be preempted"),
    ("select_admissions", lambda view: list(view.running) or None, "not a waiting request"),
    ("select_admissions", lambda view: [view.waiting[0]] * 2, "a request twice"),
    ("order_running", lambda view: [elsewhere(view) or view.running[0]], "not running"),
    ("order_running", lambda view: [view.running[0]] * 2, "a request twice"),
]


@pytest.mark.parametrize(("hook", "answer", "problem"), WRONG_REQUESTS)
def test_a_request_from_the_wrong_place(hook: str, answer: Any, problem: str) -> None:
    with pytest.raises(PolicyError, match=f"hook '{hook}'.*{problem}.*<request R"):
        serve_stack(component(**{hook: answer}))


@pytest.mark.parametrize("hook", ["select_victim", "select_admissions", "order_running"])
def test_a_request_that_is_finished(hook: str) -> None:
    keeper = Keeper()

    def answer(view: Any) -> Any:
        if view.now < 90 and hook != "select_victim":
            return None
        return keeper.kept if hook == "select_victim" else [keeper.kept]

    served = "R0(16,2,@0) R1(32,32,@90) R2(32,32,@90)"
    with pytest.raises(PolicyError, match=f"hook '{hook}'.*<request R0, finished>"):
        serve(
            served,
            Policy([("keeper", keeper), ("silly", component(**{hook: answer}))]),
            num_gpu_blocks=6,
        )


def endless(requests: Any) -> Any:
    while True:
        yield from requests


@pytest.mark.parametrize("hook", ["select_admissions", "order_running"])
def test_an_endless_answer_does_not_hang(hook: str) -> None:
    def answer(view: Any) -> Any:
        return endless(list(view.waiting if hook == "select_admissions" else view.running))

    with pytest.raises(PolicyError, match=f"hook '{hook}'.*a request twice"):
        serve_stack(component(**{hook: answer}, chunk_size=lambda: 0 if hook[0] == "s" else None))


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("division by zero"), SystemExit(0), StopIteration(), NoProgress("stuck")],
    ids=repr,
)
def test_a_hook_that_raises(hook: str, error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(PolicyError) as caught:
        serve_stack(component(**{hook: fail}), component(effective_priority=predicted))
    assert str(caught.value).startswith(f"component 'silly', hook '{hook}', step ")
    assert f"raised {type(error).__name__}: {error} (test_nonsense.py, line " in str(caught.value)
    assert caught.value.__cause__ is error


def predicted(request: RequestView) -> float:
    return request.predicted_output or 0.0


def line_of(function: Callable[..., Any], offset: int) -> str:
    return f"(test_nonsense.py, line {function.__code__.co_firstlineno + offset})"


def mean_of_nothing() -> float:
    return statistics.mean([])


def too_deep() -> float:
    return too_deep()


@attrs.define(eq=False)
class Heir(toolbox.OwnHistory):
    """A hook that only its base implements, in another module."""


@pytest.mark.parametrize("fails", [mean_of_nothing, too_deep])
def test_the_line_named_is_the_authors(fails: Callable[[], float]) -> None:
    with pytest.raises(PolicyError) as caught:
        serve_stack(component(effective_priority=fails))
    assert str(caught.value).endswith(line_of(fails, 1))


def test_the_line_of_an_inherited_hook_is_that_of_the_base() -> None:
    heir = Heir()
    heir._of_tenant = None  # type: ignore[assignment]
    with pytest.raises(PolicyError, match=r"\(toolbox.py, line \d+\)"):
        serve_stack(component(effective_priority=predicted), heir)


@pytest.mark.parametrize("hook", ["select_admissions", "order_running"])
def test_a_generator_that_raises_half_way(hook: str) -> None:
    def half(view: Any) -> Any:
        yield (view.waiting if hook == "select_admissions" else view.running)[0]
        raise KeyError("lost")

    with pytest.raises(PolicyError, match=f"hook '{hook}'.*raised KeyError: 'lost'"):
        serve_stack(component(**{hook: half}))


def test_the_error_names_the_component_that_answered() -> None:
    silent, loud = component(chunk_size=lambda: None), component(chunk_size=lambda: -1)
    with pytest.raises(PolicyError, match="component 'silly1', hook 'chunk_size'"):
        serve_stack(silent, loud)


def test_the_error_of_a_nested_question_names_the_one_that_was_wrong() -> None:
    asks, wrong = component(effective_priority=predicted), component(predict_output=lambda: -5)
    with pytest.raises(PolicyError, match=r"'silly1', hook 'predict_output'.*negative.*-5"):
        serve_stack(asks, wrong)


HARMLESS: list[tuple[str, Any]] = [
    ("chunk_size", lambda limit: limit + 100),
    ("chunk_size", lambda limit: np.int64(limit)),
    ("chunk_size", lambda limit: float(limit)),
    ("effective_priority", lambda: np.float32(0)),
    ("effective_priority", lambda: 0),
    ("step_budget", lambda: 10**9),
    ("select_admissions", lambda view: tuple(view.waiting)),
    ("select_victim", lambda beneficiary: None),
]


@pytest.mark.parametrize(("hook", "answer"), HARMLESS)
def test_harmless_excess_is_cut(hook: str, answer: Any) -> None:
    assert serve_stack(component(**{hook: answer})).lines == serve(TIGHT, num_gpu_blocks=6).lines


@pytest.mark.parametrize(
    "answers",
    [
        {"chunk_size": lambda: 0},
        {"can_admit": lambda: False},
        {"select_admissions": lambda: ()},
        {"reserve_blocks": lambda: 10**6},
        {"order_running": lambda: (), "can_admit": lambda view: not view.running},
        {"select_victim": lambda: NO_VICTIM},
    ],
    ids=lambda answers: "+".join(answers),
)
def test_a_policy_that_serves_nobody_makes_no_progress(answers: Any) -> None:
    """E8: two steps without a grant, and nothing to come, whatever the clock does."""
    with pytest.raises(NoProgress) as caught:
        serve("OLD(60,33,@0) NEW(30,60,@0)", Policy([("idle", component(**answers))]),
             num_gpu_blocks=6)  # fmt: skip
    message = str(caught.value)
    assert "the oldest request 'OLD'" in message
    assert "of 6 blocks" in message


def test_events_may_answer_nothing_but_are_told() -> None:
    told: list[str] = []
    names = [name for name in vars(Events) if name[0] != "_"]
    for name in names:
        serve_stack(component(**{name: lambda name=name: told.append(name)}))
    assert set(told) >= {"request_arrived", "request_admitted", "request_finished"}
