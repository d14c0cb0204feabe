"""A policy turns requests away: when it is asked, and what a rejection counts as."""

from typing import Any

import attrs
import pytest
from harness import Served, serve

from sched_core import Policy, PolicyError, RequestSpec, RequestView, SchedulerView, hookimpl
from sched_core.metrics.summary import summarize


@attrs.define(eq=False)
class Patience:
    """Whoever has waited longer is turned away, and whoever finds too long a queue."""

    seconds: float
    queue: int = 99
    asked: list[tuple[float, str]] = attrs.field(factory=list)

    @hookimpl
    def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
        self.asked.append((view.now, request.id))
        if len(view.waiting) >= self.queue and view.waiting[0] is not request:
            return "queue full"
        return "too late" if view.now - request.arrival > self.seconds else None


def shed(specs: str, part: object, *others: object, **settings: Any) -> Served:
    stack = [("shed", part), *((f"other{n}", other) for n, other in enumerate(others))]
    return serve(specs, Policy(stack), **settings)


def states(served: Served) -> dict[str, str]:
    return {name: row["reason"] or row["state"] for name, row in served.rows.items()}


def test_on_arrival() -> None:
    part = Patience(99.0, queue=2)
    served = shed("A(8,9,@0) B(8,9,@1) C(8,9,@2) D(8,9,@2.5) E(8,9,@20)", part, max_num_seqs=1)
    assert states(served) == {
        "A": "finished", "B": "finished", "C": "finished", "D": "queue full", "E": "finished"
    }  # fmt: skip
    assert served.finish("D") == 2.5
    assert served.at(3.0)["rejected"] == {"D": "queue full"}
    assert part.asked[:2] == [(0.0, "A"), (0.0, "A")]  # on arrival, and at the head
    assert (2.5, "D") in part.asked


def test_at_the_head_of_a_full_batch_one_after_the_other() -> None:
    specs = "A(8,9,@0) B(8,9,@1) C(8,9,@2) D(8,9,@2) E(8,3,@6)"
    part = Patience(3.0)
    served = shed(specs, part, max_num_seqs=1)
    assert states(served) == {
        "A": "finished", "B": "too late", "C": "too late", "D": "too late", "E": "finished"
    }  # fmt: skip
    assert served.finish("B") == 5.0
    assert served.at(5.0)["rejected"] == {"B": "too late"}
    assert served.at(6.0)["rejected"] == {"C": "too late", "D": "too late"}
    assert [name for now, name in part.asked if now == 4.0] == ["B"]
    assert [name for now, name in part.asked if now == 6.0] == ["E", "C", "D", "E"]
    assert served.first_scheduled("E") == 9.0


def test_a_request_is_asked_about_once_a_step() -> None:
    """Three join at once: the head, and the others before they are offered a place."""
    part = Patience(9.0)
    shed("A(8,2,@0) B(8,2,@0) C(8,2,@0) D(8,2,@0)", part, max_num_seqs=3, horizon=1.0)
    assert [name for _, name in part.asked] == [*"ABCD", *"ABC"]


def test_who_is_offered_out_of_order_is_asked_too() -> None:
    class LastFirst:
        @hookimpl
        def select_admissions(self, view: SchedulerView) -> list[RequestView]:
            return list(view.waiting)[::-1]

    class NotC:
        @hookimpl
        def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
            return "not C" if request.id == "C" and view.now >= 1 else None

    specs = "A(8,2,@0) B(8,2,@0.5) C(8,2,@0.5) D(8,2,@0.5)"
    served = shed(specs, NotC(), LastFirst(), max_num_seqs=2)
    assert states(served)["C"] == "not C"
    assert served.at(1.0)["scheduled"] == {"A": 1, "D": 8}


def test_who_has_run_is_not_asked() -> None:
    specs = "A(32,32,@0) B(32,32,@0)"

    class Never:
        @hookimpl
        def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
            return "late" if view.step > 3 else None

    served = shed(specs, Never(), num_gpu_blocks=6)
    assert served.rows["B"]["preemptions"] == 1
    assert states(served) == {"A": "finished", "B": "finished"}


def test_a_rejection_is_no_latency_and_no_attainment() -> None:
    served = shed("A(8,9,@0) B(8,9,@1)", Patience(3.0), max_num_seqs=1)
    summary = summarize(served.engine.recorder, num_blocks=100, goodput={"ttft": 5000.0})
    assert (summary["finished"], summary["rejected"], summary["submitted"]) == (1, 1, 2)
    for name in ("ttft", "tpot", "e2el", "queue_time"):
        assert summary[name]["count"] == 1
    assert (summary["good"], summary["slo_attainment"]) == (1, 0.5)
    assert served.rows["B"]["first_token_ns"] == served.rows["B"]["first_scheduled_ns"] == -1


def test_a_closed_loop_sends_the_next() -> None:
    """B is turned away at 5 s, so C is sent then; and D at once where C finds the queue full."""
    specs = "A(8,9,@0) B(8,9,@1) C(8,2,@1) D(8,2,@1)"
    served = shed(specs, Patience(3.0), max_num_seqs=1, max_concurrency=2)
    arrivals = {name: row["arrival_ns"] / 1e9 for name, row in served.rows.items()}
    assert arrivals == {"A": 0.0, "B": 1.0, "C": 5.0, "D": 9.0}
    assert states(served)["B"] == "too late"
    full = shed(specs, Patience(9.0, queue=1), max_num_seqs=1, max_concurrency=3)
    assert states(full)["C"] == states(full)["D"] == "queue full"
    assert {row["arrival_ns"] / 1e9 for row in full.rows.values()} == {0.0, 1.0}


def test_a_session_goes_on_with_the_next_turn() -> None:
    specs = [
        RequestSpec("A", 0.0, 8, 9),
        RequestSpec("B", 1.0, 8, 2, session="s"),
        RequestSpec("C", 1.0, 40, 2, session="s", turn=1, think_time=3.0),
    ]
    served = serve(specs, Policy([("shed", Patience(3.0))]), max_num_seqs=1)
    assert (states(served)["B"], served.finish("B")) == ("too late", 5.0)
    assert served.rows["C"]["arrival_ns"] == 8_000_000_000


def test_turning_all_away_ends_a_run_that_could_not_go_on() -> None:
    class Never:
        @hookimpl
        def can_admit(self) -> bool:
            return False

        @hookimpl
        def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
            return "shut" if view.now >= 4 else None

        @hookimpl
        def wake_at(self) -> float:
            return 4.0

    served = shed("A(8,2,@0) B(8,2,@1)", Never())
    assert states(served) == {"A": "shut", "B": "shut"}
    assert served.engine.recorder.end_ns == 4_000_000_000


@pytest.mark.parametrize("answer", ["", " ", True, False, 0, ["late"]])
def test_what_is_no_reason_is_refused(answer: Any) -> None:
    class Wrong:
        @hookimpl
        def reject_request(self) -> Any:
            return answer

    problem = "'shed', hook 'reject_request', step 0, time 0 s: not a reason"
    with pytest.raises(PolicyError, match=problem):
        shed("A(8,2,@0)", Wrong())


def test_the_view_of_an_arrival_shows_an_empty_step() -> None:
    seen: list[tuple[int, int, bool]] = []

    class Looks:
        @hookimpl
        def reject_request(self, view: SchedulerView, request: RequestView) -> None:
            seen.append((view.budget_left, view.granted_tokens, view.fits(request)))

    shed("A(8,9,@0) B(8,9,@1.5)", Looks(), max_num_seqs=1, horizon=2.5)
    assert seen[2:3] == [(256, 0, False)]
