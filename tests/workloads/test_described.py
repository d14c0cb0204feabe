"""A workload in figures, and the two commands that print them."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from installed import Site

from sched_core import HashedPrefix, InputError, RequestSpec, SharedPrefix, UnknownName, Workload
from sched_core.cli.workloads import workloads
from sched_core.experiment.expectation import expect
from sched_core.workload.summary import summarize

from .conftest import Make, Write


def test_figures_of_a_small_workload() -> None:
    prefixes = [SharedPrefix("s", 60), None, SharedPrefix("s", 60), SharedPrefix("t", 60)]
    requests = [
        RequestSpec(f"r{k}", arrival, 100 + k, 10, k % 2, "ab"[k // 3], prefixes[k])
        for k, arrival in enumerate((0.0, 1.0, 2.0, 6.0))
    ]
    figures = summarize(Workload(requests, {"failed": 3}))
    assert figures["duration"] == 6.0
    assert figures["request_rate"] == 0.5
    assert figures["gap_cv"] == pytest.approx(2**0.5 / 2)  # gaps 1, 1, 4
    assert figures["prompt_len"] == {"mean": 101.5, "p50": 101.5, "p99": 102.97, "max": 103}
    assert figures["tenants"] == {"a": 3, "b": 1}
    assert figures["priorities"] == {"0": 2, "1": 2}
    assert figures["repeated_prompt_share"] == 60 / 406
    assert figures["dropped"] == {"failed": 3}


def test_hashed_blocks_count_once_they_repeat_but_never_the_last_token() -> None:
    prefixes = [HashedPrefix((0, 1), 16), HashedPrefix((0, 1), 16), HashedPrefix((0, 2), 16)]
    requests = [RequestSpec(f"r{k}", 0.0, 20, 1, prefix=p) for k, p in enumerate(prefixes)]
    assert summarize(Workload(requests))["repeated_prompt_share"] == (19 + 16) / 60


def test_what_is_undefined_is_null() -> None:
    empty = summarize(Workload([]))
    assert (empty["request_rate"], empty["gap_cv"], empty["prompt_len"]) == (None, None, None)
    together = summarize(Workload([RequestSpec(n, 0.0, 0, 1) for n in "ab"]))
    assert (together["request_rate"], together["gap_cv"]) == (None, None)
    assert together["repeated_prompt_share"] is None


def run(*arguments: str) -> str:
    result = CliRunner().invoke(workloads, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_describe_prints_the_same_figures_in_three_ways(make: Make) -> None:
    spec = "gamma:n=50:cv=2"
    figures = json.loads(run("describe", spec, "--seed", "3", "--format", "json"))
    expected = figures.pop("expected")
    assert figures == {"workload": spec, **json.loads(json.dumps(summarize(make(spec, 3))))}
    assert expected == expect(make(spec, 3), "a100", "llama-3.1-8b")
    rows = dict(csv.reader(io.StringIO(run("describe", spec, "--seed", "3", "--format", "csv"))))
    assert float(rows["prompt_len.mean"]) == figures["prompt_len"]["mean"]
    assert rows["setting.cv"] == "2.0"
    table = run("describe", spec, "--seed", "3")
    assert f"mean {figures['prompt_len']['mean']:.6g}" in table


def test_describe_tells_what_was_dropped(write: Write) -> None:
    rows = "5,472,18\n6,0,0\n7,0,0\n"
    path = write("b.csv", "Timestamp,Request tokens,Response tokens\n" + rows)
    assert "failed (0 tokens) 2" in run("describe", f"trace:path={path}")


def test_no_json_holds_an_infinity() -> None:
    text = run("describe", "poisson:request_rate=inf:n=5", "--format", "json")
    assert json.loads(text)["setting"]["request_rate"] == "inf"
    assert "Infinity" not in text
    assert "NaN" not in text


def test_errors_are_ours_so_that_the_command_line_prints_one_line(write: Write) -> None:
    for spec, error in (("poison", UnknownName), ("poisson:n=0", InputError)):
        result = CliRunner().invoke(workloads, ["describe", spec])
        assert isinstance(result.exception, error)


def test_list_has_every_workload_and_its_defaults() -> None:
    entries = {entry["name"]: entry for entry in json.loads(run("list", "--format", "json"))}
    assert {"poisson", "gamma", "constant", "closed", "trace", "azure", "csv"} <= entries.keys()
    n = {"name": "n", "type": "int", "default": 1000, "required": False}
    assert n in entries["poisson"]["parameters"]
    assert entries["azure"]["parameters"][0]["required"] is True
    assert all(entry["summary"] and not entry["problem"] for entry in entries.values())
    (poisson,) = [
        row
        for row in csv.DictReader(io.StringIO(run("list", "--format", "csv")))
        if row["name"] == "poisson"
    ]
    assert "prompt_len=50..3000" in poisson["parameters"]


def test_list_fits_a_hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = run("list").splitlines()
    assert max(map(len, lines)) <= 100
    assert any("path=... limit=" in line for line in lines)


def test_a_broken_plugin_is_a_row_and_the_others_stay(site: Site) -> None:
    site.install("lab", "", {}, workloads={"broken": "no_such_module:Thing"})
    problems = {row["name"]: row["problem"] for row in json.loads(run("list", "--format", "json"))}
    assert "no_such_module" in problems["broken"]
    assert problems["poisson"] is None
    assert "cannot be used: ModuleNotFoundError" in run("list")
