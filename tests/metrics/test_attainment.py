"""Who kept the times asked of them, in hand-worked runs of one second a step."""

import json
from typing import Any

import attrs
import pytest
from command_line import schedfw
from harness import records, requests, serve, summary

from sched_core import InputError, Scenario, UnknownName, Workload, compare

ONE_BY_ONE = "a(16,2,@0,0) b(16,2,@0,1) c(500,9,@0,1) d(16,2,@0,2)"
"""One seat: a ends at 2 s, b at 4, d at 6, first tokens a second earlier; c is rejected."""


def served(**asked: dict[str, float]) -> Any:
    specs = [attrs.evolve(spec, **asked.get(spec.id, {})) for spec in requests(ONE_BY_ONE)]
    return serve(specs, max_num_seqs=1, num_gpu_blocks=4)


def test_each_request_is_held_to_what_it_asks_for() -> None:
    run = served(
        a={"ttft_slo": 1.0, "tpot_slo": 1.0},  # both just kept
        b={"ttft_slo": 3.0, "e2el_slo": 3.9},
        c={"ttft_slo": 1e6},  # rejected
    )
    own = summary(run)["own_slo"]
    assert own == {
        "requests": 3,
        "attained": 1,
        "attainment": 1 / 3,
        "ttft": 2 / 3,
        "tpot": 1.0,
        "e2el": 0.0,
        "deadline": None,
    }
    marks = {name: record["own_slo_attained"] for name, record in records(run).items()}
    assert marks == {"a": True, "b": False, "c": False, "d": None}
    priorities = summary(run)["priorities"]
    assert [priorities[p]["own_slo"]["attainment"] for p in "012"] == [1.0, 0.0, None]


def test_a_deadline_is_a_time_on_the_clock() -> None:
    run = served(b={"deadline": 4.0}, d={"deadline": 5.9})
    own = summary(run)["own_slo"]
    assert (own["attained"], own["deadline"]) == (1, 0.5)


def test_nobody_who_asks_for_nothing_is_counted() -> None:
    own = summary(served())["own_slo"]
    assert (own["requests"], own["attainment"]) == (0, None)


def test_a_limit_of_a_class_takes_the_place_of_everyones() -> None:
    figures = summary(served(), goodput={"ttft": 1000.0, "ttft@1": 3000.0})
    assert (figures["good"], figures["slo_attainment"]) == (2, 2 / 4)  # a and b, not c and d
    assert figures["priorities"]["1"]["slo_attainment"] == 1 / 2


def test_a_limit_of_a_class_alone_counts_that_class_alone() -> None:
    figures = summary(served(), goodput={"ttft@priority=2": 5000.0})
    assert (figures["good"], figures["slo_attainment"]) == (1, 1.0)


def test_of_a_limit_for_the_priority_and_one_for_the_tenant_the_smaller_holds() -> None:
    limits = {"ttft@0": 1000.0, "ttft@default": 3000.0}
    assert summary(served(), goodput=limits)["good"] == 2  # a and b; d comes after 3 s
    assert summary(served(), goodput=limits | {"ttft@0": 999.0})["good"] == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("ttft:500@gold", "goodput ttft@gold: unknown tenant 'gold' (known: default)"),
        ("ttft:500@7", "goodput ttft@7: unknown priority '7' (known: 0)"),
        ("ttft:500@priority=x", "field 'goodput': no priority (found 'ttft@priority=x')"),
        ("ttft:500/600", "field '--goodput': ttft given twice (found 'ttft:500/600')"),
        ("itl:5", "unknown goodput metric 'itl' (known: e2el, tpot, ttft)"),
        ("ttft:soon", "field '--goodput': not a limit (found 'ttft:soon')"),
        ("ttft:-1@0", "field 'goodput ttft@0': out of range (found -1.0)"),
    ],
)
def test_a_limit_that_means_nothing_is_refused(option: str, message: str) -> None:
    workload = ("--workload", "poisson:n=3:tenants=default:priorities=0")
    answer = schedfw("run", *workload, "--goodput", option)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert message in answer.stderr


def test_limits_of_classes_stand_in_the_setting() -> None:
    scenario = Scenario(
        workload=Workload(requests(ONE_BY_ONE)), goodput={"ttft@0": 500.0, "e2el": 9000.0}
    )
    report = compare(scenario, ["fcfs"])
    assert json.loads(json.dumps(report.setting["goodput"])) == {"ttft@0": 500.0, "e2el": 9000.0}
    with pytest.raises((InputError, UnknownName), match="unknown priority '9'"):
        compare(attrs.evolve(scenario, goodput={"ttft@9": 1.0}), ["fcfs"])
