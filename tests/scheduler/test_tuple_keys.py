"""Keys may be tuples of numbers, as many for every request of a run."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest
from harness import Served, serve

from sched_core import Policy, PolicyError, RequestView, hookimpl
from sched_core.testing import CheckFailed, check_policy


@attrs.define(eq=False)
class Keyed:
    """Whatever a function says of a request."""

    priority_moves = "static"
    key: Callable[[RequestView], Any]

    @hookimpl
    def effective_priority(self, request: RequestView) -> Any:
        return self.key(request)


def keyed(key: Callable[[RequestView], Any], specs: str, **settings: Any) -> Served:
    return serve(specs, Policy([("keyed", Keyed(key))]), **settings)


def order(served: Served) -> list[str]:
    return sorted(served.rows, key=served.first_scheduled)


SPECS = "A(9,2,@0,1) B(9,2,@0,0) C(5,2,@0,1) D(8,2,@0,0) E(8,2,@0,0)"


def test_the_first_number_that_differs_decides() -> None:
    served = keyed(lambda r: (r.priority, r.prompt_len), SPECS, max_num_seqs=1)
    assert order(served) == ["D", "E", "B", "C", "A"]
    one = keyed(lambda r: (r.prompt_len,), SPECS, max_num_seqs=1)
    assert one.lines == keyed(lambda r: r.prompt_len, SPECS, max_num_seqs=1).lines


def test_the_last_in_order_is_the_victim() -> None:
    specs = "A(32,32,@0,1) B(32,32,@0,0) C(32,32,@0,1)"
    served = keyed(lambda r: (r.priority, -r.submission), specs, num_gpu_blocks=8)
    assert next(line["preempted"] for line in served.lines if line["preempted"]) == ["A"]


def test_any_kind_of_number() -> None:
    mixed = {"A": (1, 9.0), "B": (np.int64(0), 9), "C": (1.0, np.float32(5)), "D": (0, 8)}
    served = keyed(lambda r: mixed.get(r.id, (Fraction(0), 8)), SPECS, max_num_seqs=1)
    assert order(served) == ["D", "E", "B", "C", "A"]


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ((), "an empty tuple .*; expected a finite number, or a tuple of finite numbers"),
        ((1.0, None), "not a number .answered None.; expected a finite number, or a tuple"),
        ((1.0, (2.0, 3.0)), "not a number"),
        ((1.0, True), "not a number"),
        ((1.0, float("nan")), "not a finite number"),
        ((1.0, 10**400), "not a finite number"),
        ([1.0, 2.0], "not a number .answered .1.0, 2.0..; expected a finite number, or a tuple"),
        ("12", "not a number"),
    ],
)
def test_what_is_no_key_is_refused(key: Any, problem: str) -> None:
    where = "component 'keyed', hook 'effective_priority', step 0, time 0 s: "
    with pytest.raises(PolicyError, match=where + problem):
        keyed(lambda r: key, SPECS)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (1.0, (1.0, 2.0), r"answered \(1.0, 2.0\)\); expected a number, as None is"),
        (None, (1.0, 2.0), r"answered \(1.0, 2.0\)\); expected a number, as None is"),
        (1, (1.0,), r"answered \(1.0,\)\); expected a number"),
        ((1.0, 2.0), 1.0, r"answered 1.0\); expected a tuple of 2"),
        ((1.0, 2.0), (1.0, 2.0, 3.0), r"answered \(1.0, 2.0, 3.0\)\); expected a tuple of 2"),
        ((1.0, 2.0), None, "expected a tuple of 2"),
    ],
)
def test_keys_of_two_kinds_are_refused(first: Any, second: Any, expected: str) -> None:
    problem = f"'effective_priority', step 0, time 0 s: a key unlike those before.*{expected}"
    with pytest.raises(PolicyError, match=problem):
        keyed(lambda r: first if r.id == "A" else second, SPECS)


@attrs.define(eq=False)
class Ages:
    """Aging within a class of priority."""

    @hookimpl
    def effective_priority(self, request: RequestView, now: float) -> tuple[float, float]:
        return request.priority, request.prompt_len - 0.5 * (now - request.arrival)


class AgesAlike(Ages):
    priority_moves = "clock"


class DoesNotAge(Ages):
    priority_moves = "static"


def test_keys_move_as_declared_part_by_part() -> None:
    for honest in (Ages, AgesAlike):
        check_policy(honest, examples=15)
    with pytest.raises(
        CheckFailed, match=r'H1 keys move .* is \(\d+, \S+\) at .* "clock" would be'
    ):
        check_policy(DoesNotAge, examples=15)
