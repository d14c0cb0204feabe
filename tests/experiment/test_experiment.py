"""Runs and comparisons as a library user starts them."""

import json
import pickle
from typing import Any

import attrs
import pytest

from sched_core import (
    EngineConfig,
    InputError,
    PolicyError,
    RequestSpec,
    Scenario,
    UnknownName,
    Workload,
    compare,
    simulate,
)

SMALL = Scenario(workload="poisson:n=60:request_rate=20", config=EngineConfig(num_gpu_blocks=700))


def entries(document: dict[str, Any]) -> dict[str, Any]:
    return {entry["policy"]: entry for entry in document["policies"]}


def test_one_run_has_the_documented_shape() -> None:
    document = simulate(attrs.evolve(SMALL, policy="priority")).document()
    assert set(document) == {"schema", "setting", "policies"}
    assert document["schema"] == 1
    (entry,) = document["policies"]
    assert entry["policy"] == "priority"
    assert entry["components"]["effective_priority"] == ["priority"]
    assert entry["summary"]["finished"] == len(entry["requests"]) == 60
    counts = """submitted finished rejected aborted unfinished steps makespan computed_tokens
        recomputed_tokens recompute_tax preemptions swap_outs swap_ins peak_blocks"""
    assert set(counts.split()) <= set(entry["summary"])
    json.dumps(document, allow_nan=False)


def test_the_setting_says_what_ran_on_what() -> None:
    setting = simulate(SMALL).setting
    assert setting["workload"]["spec"] == SMALL.workload
    assert (setting["workload"]["requests"], setting["workload"]["dropped"]) == (60, {})
    assert setting["hardware"]["spec"] == "a100"
    assert setting["model"] == "llama-3.1-8b"
    assert setting["config"]["num_gpu_blocks"] == 700
    assert setting["config"]["max_model_len"] == 131072, "the model's context"
    assert (setting["seed"], setting["seeds"], setting["horizon"]) == (0, 1, None)


def test_differences_are_there_where_several_seeds_ran_whatever_the_setting_says() -> None:
    for seeds in (1, 2):
        report = attrs.evolve(compare(SMALL, ["fcfs", "priority"], seeds=seeds), setting={})
        assert report.seeds == seeds
        assert ("differences" in report.document()) == (seeds > 1)


def test_a_policy_does_not_depend_on_the_company_it_keeps() -> None:
    alone = compare(SMALL, ["priority"]).document()
    among = compare(SMALL, ["sjf", "priority", "fcfs"]).document()
    assert entries(among)["priority"] == entries(alone)["priority"]
    assert entries(among)["fcfs"] != entries(among)["priority"]


def test_processes_change_nothing() -> None:
    policies = ["fcfs", "priority"]
    assert (
        compare(SMALL, policies, seeds=2, jobs=2).document()
        == compare(SMALL, policies, seeds=2).document()
    )


def test_seeds_pair_the_policies_on_identical_workloads() -> None:
    seen = []
    scenario = attrs.evolve(SMALL, seed=5)
    report = compare(scenario, ["fcfs", "priority"], seeds=3, on_result=seen.append)
    assert seen == report.results
    assert [(r.policy, r.seed) for r in seen] == [
        (policy, seed) for policy in ("fcfs", "priority") for seed in (5, 6, 7)
    ]
    lengths = [[(r["arrival"], r["prompt_len"]) for r in result.requests] for result in seen]
    assert lengths[:3] == lengths[3:]
    assert lengths[0] != lengths[1]
    document = report.document()
    (finished, *_) = document["differences"]
    assert (finished["policy"], finished["baseline"], finished["mean"]) == ("priority", "fcfs", 0.0)
    json.dumps(document, allow_nan=False)


def test_a_trace_repeated_over_seeds_proves_nothing() -> None:
    specs = [RequestSpec(f"R{i}", 0.0, 400, 50 + i, priority=-i) for i in range(40)]
    config = EngineConfig(max_num_seqs=4)
    scenario = attrs.evolve(SMALL, workload=Workload(specs), config=config)
    found = compare(scenario, ["fcfs", "priority"], seeds=3).differences()
    assert any(difference.mean for difference in found)
    assert {difference.verdict for difference in found} == {None}


def test_oracles_are_marked() -> None:
    honest, oracle = compare(SMALL, ["sjf", "sjf+predict-oracle"]).results
    assert (honest.oracle, oracle.oracle) == (False, True)


def test_goodput_and_horizon_reach_the_summary() -> None:
    scenario = attrs.evolve(SMALL, horizon=2.0, goodput={"e2el": 1e9})
    (result,) = simulate(scenario).results
    assert result.summary["unfinished"] > 0
    assert result.summary["good"] == result.summary["finished"] > 0


@pytest.mark.parametrize(
    ("changes", "policies", "error", "message"),
    [
        ({}, ["fcfs", "fcsf"], UnknownName, "did you mean 'fcfs'"),
        ({}, ["fcfs", "fcfs"], InputError, "given twice"),
        ({}, [], InputError, "no policy"),
        ({"hardware": "a1000"}, ["fcfs"], UnknownName, "did you mean 'a100'"),
        ({"model": "llama-9"}, ["fcfs"], UnknownName, "unknown model 'llama-9'"),
        ({"workload": "poison"}, ["fcfs"], UnknownName, "did you mean 'poisson'"),
        ({"workload": Workload([])}, ["fcfs"], InputError, "no request"),
        (
            {"hardware": "constant", "config": EngineConfig()},
            ["fcfs"],
            InputError,
            "num_gpu_blocks",
        ),
        (
            {"config": EngineConfig(enable_chunked_prefill=False)},
            ["fcfs"],
            InputError,
            "at least max_model_len = 131072",
        ),
        ({"config": EngineConfig(num_gpu_blocks=1)}, ["fcfs"], InputError, "no request .* ever"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_runs(
    changes: dict[str, Any], policies: list[str], error: type[Exception], message: str
) -> None:
    finished: list[Any] = []
    with pytest.raises(error, match=message):
        compare(attrs.evolve(SMALL, **changes), policies, on_result=finished.append)
    assert not finished


@pytest.mark.parametrize(("name", "value"), [("seeds", 0), ("jobs", 0), ("jobs", -2)])
def test_numbers_of_seeds_and_jobs(name: str, value: int) -> None:
    with pytest.raises(InputError, match=f"field '{name}'.*found {value}"):
        compare(SMALL, ["fcfs"], **{name: value})  # type: ignore[arg-type]


def test_an_error_comes_out_of_a_worker_as_it_is() -> None:
    error = PolicyError(
        "too large", component="c", hook="h", value=3, step=4, time=0.5, expected="less"
    )
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.__dict__) == (PolicyError, str(error), error.__dict__)
    unknown = pickle.loads(pickle.dumps(UnknownName("policy", "fcsf", ["fcfs"])))
    assert str(unknown) == "unknown policy 'fcsf'; did you mean 'fcfs'? (known: fcfs)"
