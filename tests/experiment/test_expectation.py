"""What `workloads describe` says to expect, held against runs of the same requests."""

import json
from typing import Any

import pytest
from command_line import schedfw

from sched_core import RequestSpec, Workload
from sched_core.experiment.expectation import expect


def described(spec: str, *options: str) -> dict[str, Any]:
    answer = schedfw("workloads", "describe", spec, "--format", "json", *options)
    assert answer.exit_code == 0, answer.stderr
    expected: dict[str, Any] = json.loads(answer.stdout)["expected"]
    return expected


@pytest.mark.parametrize(
    "spec",
    [
        "poisson:request_rate=50:prompt_len=50..3000:output_len=50..1000",
        "poisson:request_rate=50:prompt_len=100:output_len=1000",
        "poisson:request_rate=50:prompt_len=4000:output_len=50",
        "trace:name=example-azure:time_scale=0.1",
    ],
)
@pytest.mark.parametrize("hardware", ["a100", "h100"])
def test_an_overloaded_run_serves_about_what_was_said(spec: str, hardware: str) -> None:
    """Of a run that is never idle; it also fills and drains, which the figure leaves out."""
    expected = described(spec, "--hardware", hardware)
    assert expected["load"] > 1
    options = ("--workload", spec, "--hardware", hardware, "--format", "json")
    report = json.loads(schedfw("run", *options).stdout)
    (policy,) = report["policies"]
    served = policy["summary"]["request_throughput"]
    assert expected["served_requests"] == pytest.approx(served, rel=0.2)


def workload(*arrivals: float, kind: str = "trace", **options: Any) -> Workload:
    specs = [RequestSpec(f"r{k}", arrival, 1000, 200) for k, arrival in enumerate(arrivals)]
    return Workload(specs, description={"kind": kind}, **options)


@pytest.mark.parametrize(
    ("arrivals", "kind", "says"),
    [
        ((0, 800, 1600), "trace", "offered 0.0013 requests/s, at most 9.54 served: idle most of "
         "the time; are arrivals in milliseconds?"),
        ((0, 800, 1600), "poisson", "offered 0.0013 requests/s, at most 9.54 served: idle most of "
         "the time"),
        ((0, 1, 2), "trace", "offered 1 requests/s, at most 9.54 served: no lasting queue"),
        ((0, 0.12, 0.24), "trace", "offered 8.33 requests/s, at most 9.54 served: nearly full, "
         "bursts will queue"),
        ((0, 0.05, 0.1), "trace", "offered 20 requests/s, at most 9.54 served: overloaded, the "
         "queue grows"),
        ((0, 0.001, 0.002), "trace", "offered 1,000 requests/s, at most 9.54 served: overloaded, "
         "the queue grows; are arrivals in seconds?"),
        ((5, 5, 5), "trace", "no rate of its own: all arrive at once"),
    ],
)  # fmt: skip
def test_the_verdict_is_one_sentence(arrivals: tuple[float, ...], kind: str, says: str) -> None:
    assert expect(workload(*arrivals, kind=kind), "a100", "llama-3.1-8b")["verdict"] == says


def test_where_answers_decide_there_is_no_rate() -> None:
    closed = expect(workload(0, 1, max_concurrency=4), "a100", "llama-3.1-8b")
    assert closed["verdict"] == "no rate of its own: at most 4 requests at a time"
    turns = [RequestSpec(f"r{k}", 0.0, 9, 2, session="s", turn=k) for k in range(2)]
    talk = expect(Workload(turns), "a100", "llama-3.1-8b")
    assert talk["verdict"] == "no rate of its own: later turns wait for the answer before"
    assert (talk["offered_requests"], talk["load"]) == (None, None)
    assert talk["served_requests"] > 0


def test_figures_follow_from_each_other() -> None:
    found = expect(workload(0, 1, 2), "h100", "llama-3.1-8b")
    assert (found["hardware"], found["model"]) == ("h100", "llama-3.1-8b")
    assert found["offered_tokens"] == 1200 * found["offered_requests"]
    assert found["load"] == found["offered_requests"] / found["served_requests"]


def test_what_cannot_be_priced_is_said() -> None:
    nothing = expect(Workload([]), "a100", "llama-3.1-8b")
    assert (nothing["served_requests"], nothing["load"]) == (None, None)
    assert described("poisson:n=9", "--hardware", "constant")["model"] is None
    answer = schedfw("workloads", "describe", "poisson:n=9", "--hardware", "h10")
    assert answer.exit_code == 2
    assert "unknown hardware 'h10'; did you mean 'h100'" in answer.stderr
    answer = schedfw("workloads", "describe", "poisson:n=9", "--model", "llama-2-70b")
    assert answer.exit_code == 2
    assert "llama-2-70b does not fit one NVIDIA A100" in answer.stderr


def test_the_table_ends_with_it() -> None:
    table = schedfw("workloads", "describe", "constant:request_rate=2:n=50").stdout
    words = " ".join(table.split())
    said = described("constant:request_rate=2:n=50")
    assert words.endswith(f"expected on a100, llama-3.1-8b: {said['verdict']}")
