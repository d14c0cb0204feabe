"""A running request loses its seat for a waiting one, where a policy says so."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from harness import serve

from sched_core import NO_VICTIM, Policy, RequestView, SchedulerView, hookimpl

Rule = Callable[[SchedulerView, RequestView], Any]


def urgent_first(view: SchedulerView, beneficiary: RequestView) -> Any:
    """Whoever is least urgent yields to a waiting request that is more urgent."""
    if beneficiary.is_running:
        return None
    last = max(view.victims, key=lambda r: r.priority, default=None)
    return last if last and last.priority > beneficiary.priority else NO_VICTIM


def nobody(view: SchedulerView, beneficiary: RequestView) -> Any:
    return NO_VICTIM


@attrs.define(eq=False)
class Yields:
    """Priority order; who yields is up to a rule."""

    priority_moves = "static"
    admission_moves = "event"

    rule: Rule
    asked: list[tuple[float, str, str | None]] = attrs.field(factory=list)
    """(time, beneficiary, what it lacks)"""

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.priority

    @hookimpl
    def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> Any:
        others = (*view.running, *view.waiting)
        assert all(other.lacks is None for other in others if other is not beneficiary)
        self.asked.append((view.now, beneficiary.id, beneficiary.lacks))
        return self.rule(view, beneficiary)


def policy(rule: Rule) -> tuple[Policy, list[tuple[float, str, str | None]]]:
    part = Yields(rule)
    return Policy([("yields", part)]), part.asked


FULL = "A(8,9,@0,2) B(8,9,@0,1) U(8,3,@2,0)"


def test_an_urgent_request_takes_a_seat() -> None:
    served = serve(FULL, (it := policy(urgent_first))[0], max_num_seqs=2)
    assert it[1] == [(2.0, "U", "seat"), (3.0, "A", "seat"), (4.0, "A", "seat")]
    assert served.at(2.0)["preempted"] == ["A"]
    assert served.at(2.0)["running"] == ["B", "U"]
    assert served.first_scheduled("U") == 2.0
    assert serve(FULL, "priority", max_num_seqs=2).first_scheduled("U") == 9.0


def test_by_default_nobody_yields() -> None:
    part = Yields(nobody)
    served = serve(FULL, Policy([("yields", part)]), max_num_seqs=2)
    assert served.lines == serve(FULL, "priority", max_num_seqs=2).lines
    assert {lacks for _, _, lacks in part.asked} == {"seat"}


@pytest.mark.parametrize("victims", ["largest-kv", "youngest", "cost-aware", "fewest-remaining"])
def test_rules_for_running_requests_only_are_not_asked(victims: str) -> None:
    assert not Policy.from_spec(f"priority+{victims}").declares.yields_to_waiting
    plain = serve(FULL, "priority", max_num_seqs=2).lines
    assert serve(FULL, f"priority+{victims}", max_num_seqs=2).lines == plain


def test_a_seat_and_then_blocks() -> None:
    """U needs more than one victim's memory: asked for the seat, then for blocks."""
    specs = "A(32,20,@0,2) B(32,20,@0,2) U(60,3,@2,0)"
    served = serve(specs, (it := policy(urgent_first))[0], max_num_seqs=2, num_gpu_blocks=6)
    assert [lacks for _, name, lacks in it[1] if name == "U"] == ["seat", "blocks"]
    assert served.at(2.0)["preempted"] == ["A", "B"]
    assert served.at(2.0)["running"] == ["U"]


def test_who_took_a_seat_keeps_it_for_the_step() -> None:
    """Two urgent requests take two seats; a third finds no victim among those two."""
    specs = "A(8,9,@0,2) B(8,9,@0,2) U(8,3,@2,1) V(8,3,@2,1) W(8,3,@2,1)"

    def anybody(view: SchedulerView, beneficiary: RequestView) -> Any:
        return view.victims[0] if view.victims and beneficiary.priority < 2 else None

    served = serve(specs, policy(anybody)[0], max_num_seqs=2, horizon=3.0)
    assert served.at(2.0)["preempted"] == ["A", "B"]
    assert served.at(2.0)["running"] == ["U", "V"]


def test_no_seat_is_asked_for_without_budget_or_in_a_static_batch() -> None:
    for settings in ({"max_num_batched_tokens": 2}, {"batching": "static"}):
        served = serve(FULL, (it := policy(urgent_first))[0], max_num_seqs=2, **settings)
        assert "seat" not in {lacks for _, _, lacks in it[1]}
        assert served.rows["A"]["preemptions"] == 0
