"""A policy takes running requests out at the start of a step, whether or not anything is short."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from harness import Seen, Served, serve

from sched_core import SWAP, Policy, PolicyError, RequestView, SchedulerView, hookimpl
from sched_core.execution.step_record import StepRecord
from sched_core.watchers.ticks import Ticks


@attrs.define(eq=False)
class TakesOut:
    """Whom a rule names."""

    rule: Callable[[SchedulerView], Any]
    seen: list[tuple[float, list[str]]] = attrs.field(factory=list)

    @hookimpl
    def select_preemptions(self, view: SchedulerView) -> Any:
        self.seen.append((view.now, [request.id for request in view.running]))
        return self.rule(view)


def taking(rule: Callable[[SchedulerView], Any], *others: object) -> Policy:
    return Policy([("out", TakesOut(rule)), *((f"o{n}", o) for n, o in enumerate(others))])


def at(time: float, *names: str) -> Callable[[SchedulerView], list[RequestView]]:
    return lambda view: [r for r in view.running if view.now == time and r.id in names]


def running(served: Served) -> list[str]:
    return ["".join(line["scheduled"]) for line in served.lines]


def test_another_takes_the_seat_in_the_same_step() -> None:
    """A heads the queue again at 3 s, and is passed over in that step only."""
    served = serve("A(8,5,@0) B(8,3,@1) C(8,3,@1)", taking(at(3.0, "A")), max_num_seqs=1)
    assert running(served) == ["A", "A", "A", "B", "B", "B", "A", "A", "C", "C", "C"]
    line = served.at(3.0)
    assert (line["preempted"], line["admitted"], line["waiting"]) == (["A"], {"B": 0}, ["A", "C"])
    assert served.rows["A"]["recomputed_tokens"] == 10
    assert served.rows["A"]["preempted_ns"] == 3_000_000_000


def test_blocks_are_free_at_once() -> None:
    served = serve("A(60,9,@0) B(60,2,@1)", taking(at(3.0, "A")), num_gpu_blocks=5)
    assert served.at(3.0)["admitted"] == {"B": 0}
    assert served.at(3.0)["free_blocks"] == 1


def test_in_the_mode_of_the_stack() -> None:
    class Swaps:
        @hookimpl
        def choose_preempt_mode(self) -> Any:
            return SWAP

    policy = taking(at(3.0, "A"), Swaps())
    served = serve("A(8,5,@0) B(8,3,@1)", policy, max_num_seqs=1, num_cpu_blocks=4)
    assert served.at(3.0)["swapped_out"] == ["A"]
    assert served.at(6.0)["swapped_in"] == ["A"]
    assert served.rows["A"]["recomputed_tokens"] == 0


def test_several_are_taken_together_once_all_are_named() -> None:
    seen: list[int] = []

    def all_but_one(view: SchedulerView) -> Iterator[RequestView]:
        for request in [*view.running][1:] if view.now == 2.0 else []:
            yield request
            seen.append(len(view.running))

    served = serve("A(8,5,@0) B(8,5,@0) C(8,5,@0)", taking(all_but_one))
    assert seen == [3, 3]
    assert served.at(2.0)["preempted"] == ["B", "C"]
    assert served.at(2.0)["scheduled"] == {"A": 1}
    assert served.at(3.0)["resumed"] == ["B", "C"]


def test_with_nobody_left_the_step_takes_no_time() -> None:
    served = serve("A(8,5,@0)", taking(at(2.0, "A")))
    assert [line["time"] for line in served.lines] == [0.0, 1.0, 2.0, 2.0, 3.0, 4.0]
    assert served.finish("A") == 5.0


def test_who_remains_is_ordered_and_budgeted() -> None:
    told: list[tuple[str, list[str]]] = []

    class Looks:
        @hookimpl
        def step_budget(self, view: SchedulerView) -> None:
            told.append(("budget", [r.id for r in view.running]))

        @hookimpl
        def order_running(self, view: SchedulerView) -> list[RequestView]:
            told.append(("order", [r.id for r in view.running]))
            return [*view.running][::-1]

    specs = "A(8,5,@0) B(8,5,@0) C(8,5,@0)"
    served = serve(specs, taking(at(2.0, "B"), Looks()), horizon=3.0)
    assert told[-2:] == [("budget", ["A", "C"]), ("order", ["A", "C"])]
    assert list(served.at(2.0)["scheduled"]) == ["C", "A"]


@pytest.mark.parametrize("batching", ["static", "padded"])
def test_a_static_batch_loses_a_member_until_the_next_one(batching: str) -> None:
    specs = "A(8,4,@0) B(8,4,@0) C(8,4,@0)"
    served = serve(specs, taking(at(2.0, "A")), batching=batching, max_num_seqs=2)
    assert running(served) == ["AB", "AB", "B", "B", "AC", "AC", "C", "C"]


def test_records_and_ticks_name_no_beneficiary() -> None:
    records: list[StepRecord] = []
    ticks = Ticks()

    def see(record: StepRecord) -> None:
        records.append(record)
        ticks.stepped(record)

    serve("A(8,5,@0) B(8,3,@1)", taking(at(3.0, "A")), max_num_seqs=1, watcher=Seen(see))
    (taken,) = [each for record in records for each in record.plan.preemptions]
    assert (taken.victim, taken.beneficiary, taken.chosen_by) == ("A", None, "out")
    assert ticks.ticks[3].events == ["A out: out, recompute"]


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (lambda view: list(view.waiting), "not running .*expected requests of view.running"),
        (lambda view: [*view.running, *view.running], "a request twice"),
        (lambda view: 1, "not an iterable"),
        (lambda view: ["A"], "not a request"),
        (lambda view: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_what_cannot_be_taken_out_is_refused(rule: Any, problem: str) -> None:
    where = "component 'out', hook 'select_preemptions', step 1, time 1 s: "
    with pytest.raises(PolicyError, match=where + problem):
        serve("A(8,5,@0) B(8,3,@1)", taking(rule), max_num_seqs=1)


def test_it_is_asked_in_every_step_with_something_running() -> None:
    policy = taking(lambda view: None)
    served = serve("A(8,3,@0) B(8,2,@9)", policy)
    ((_, part),) = policy.components
    assert [time for time, _ in part.seen] == [1.0, 2.0, 10.0]  # type: ignore[attr-defined]
    assert served.lines == serve("A(8,3,@0) B(8,2,@9)").lines
