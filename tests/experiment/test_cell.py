"""A run as a value: small, equal in any process, and with a key that tells results apart."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from installed import Site

from sched_core import EngineConfig, RequestSpec, Scenario, SharedPrefix, Workload, compare
from sched_core.experiment import cell as cells
from sched_core.experiment.cell import Cell
from sched_core.experiment.prepare import prepare

SCENARIO = Scenario(
    workload="poisson:n=40:request_rate=20",
    config=EngineConfig(num_gpu_blocks=700),
    goodput={"ttft": 500.0},
)
TRACE = "arrival,prompt_len,output_len\n0,40,4\n1,60,5\n"
CONFIG = """{"model_type": "llama", "num_attention_heads": 8, "hidden_size": 512,
"num_hidden_layers": 4, "intermediate_size": 1024, "vocab_size": 32000,
"max_position_embeddings": 4096}"""


def cell(scenario: Scenario = SCENARIO, **changes: Any) -> Cell:
    """The one that runs the scenario's own policy."""
    scenario = attrs.evolve(scenario, **changes)
    (only,) = prepare(scenario, [scenario.policy]).cells
    return only


def key(scenario: Scenario = SCENARIO, **changes: Any) -> str:
    return cell(scenario, **changes).key


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


# -- small, and enough ----------------------------------------------------------------------------


def test_a_cell_of_many_requests_is_small() -> None:
    large = cell(workload="poisson:n=200000")
    assert len(pickle.dumps(large)) < 10_000
    assert pickle.loads(pickle.dumps(large)) == large


def test_what_is_sent_is_small_for_every_seed_and_policy() -> None:
    prepared = prepare(attrs.evolve(SCENARIO, workload="closed:n=2000"), ["fcfs", "sjf"], seeds=3)
    assert all(len(pickle.dumps(each)) < 10_000 for each in prepared.cells)
    assert len({each.key for each in prepared.cells}) == 6


def test_a_cell_is_enough_to_run_it() -> None:
    prepared = prepare(SCENARIO, ["priority"], seeds=2)
    for each in prepared.cells:
        there = pickle.loads(pickle.dumps(each)).execute()
        assert there.document() == prepared.execute(each).document()


def test_listed_requests_travel_with_their_cell() -> None:
    listed = cell(workload=Workload([RequestSpec("A", 0.0, 40, 4)]))
    assert pickle.loads(pickle.dumps(listed)).execute().summary["finished"] == 1


def test_a_process_keeps_the_workloads_of_two_seeds(tmp_path: Path) -> None:
    trace = written(tmp_path / "a.csv", TRACE)
    cells._built.cache_clear()
    scenario = attrs.evolve(SCENARIO, workload=f"csv:path={trace}")
    for each in sorted(
        prepare(scenario, ["fcfs", "priority", "sjf"], seeds=3).cells,
        key=lambda each: each.scenario.seed,
    ):
        assert each.execute().summary["submitted"] == 2
    info = cells._built.cache_info()
    assert (info.misses, info.hits, info.currsize) == (3, 6, 2)
    trace.write_text(TRACE + "2,10,3\n")
    assert cell(scenario).execute().summary["submitted"] == 3, "the file changed"


def test_many_processes_give_the_bytes_of_one_in_the_same_order() -> None:
    seen: list[tuple[str, int]] = []
    policies = ["fcfs", "priority", "sjf"]
    report = compare(
        SCENARIO, policies, seeds=3, jobs=2, on_result=lambda r: seen.append((r.policy, r.seed))
    )
    assert seen == [(policy, seed) for policy in policies for seed in range(3)]
    assert report.document() == compare(SCENARIO, policies, seeds=3).document()


# -- what the key depends on ----------------------------------------------------------------------


def key_elsewhere(scenario: str, hash_seed: str, folder: Path, *paths: Path) -> str:
    """The key of `Scenario(SCENARIO)` in a process of its own."""
    code = (
        "from sched_core import EngineConfig, Scenario\n"
        "from sched_core.experiment.prepare import prepare\n"
        f"scenario = Scenario({scenario})\n"
        "(cell,) = prepare(scenario, [scenario.policy]).cells\n"
        "print(cell.key)"
    )
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    env["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_key_is_the_same_in_any_process_and_folder(tmp_path: Path) -> None:
    text = (
        "workload='poisson:n=40:request_rate=20', config=EngineConfig(num_gpu_blocks=700), "
        "goodput={'ttft': 500.0}"
    )
    assert key_elsewhere(text, "1", tmp_path) == key_elsewhere(text, "2", Path()) == key()


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "sjf"},
        {"policy": "schedfw/fcfs+swap"},
        {"policy": "priority:aging=30"},
        {"hardware": "h100"},
        {"hardware": "a100:ec=0.5"},
        {"model": "llama-3-8b"},
        {"workload": "poisson:n=41:request_rate=20"},
        {"workload": "constant:n=40:request_rate=20"},
        {"workload": Workload([RequestSpec("A", 0.0, 40, 4)])},
        {"config": EngineConfig(num_gpu_blocks=701)},
        {"config": EngineConfig(num_gpu_blocks=700, batching="static")},
        {"config": EngineConfig(num_gpu_blocks=700, max_num_seqs=9)},
        {"seed": 1},
        {"horizon": 9.0},
        {"goodput": {}},
        {"goodput": {"ttft": 501.0}},
    ],
)
def test_whatever_changes_the_result_changes_the_key(changes: dict[str, Any]) -> None:
    assert key(**changes) != key()


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "fcfs"},
        {"hardware": "a100", "policy": "schedfw/fcfs"},
        {"workload": "schedfw/poisson:request_rate=20:n=40"},
        {"config": EngineConfig(num_gpu_blocks=700, max_num_seqs=256, max_model_len=131072)},
    ],
)
def test_other_words_for_the_same_have_the_same_key(changes: dict[str, Any]) -> None:
    assert key(**changes) == key()


def test_the_company_in_a_comparison_does_not_count() -> None:
    prepared = prepare(SCENARIO, ["priority", "fcfs"], 2, ["static", "continuous"])
    found = {each.label: each for each in prepared.cells if each.scenario.seed == 0}
    assert found["fcfs (continuous)"].key == key()
    assert found["fcfs (static)"].key != key()


def test_listed_requests_count_by_what_they_are() -> None:
    one = RequestSpec("A", 0.0, 40, 4)
    base = Workload([one], description={"path": "here"})
    assert key(workload=base) == key(workload=Workload([attrs.evolve(one)]))
    keys = {
        key(workload=workload)
        for workload in (
            base,
            Workload([one], max_concurrency=1),
            Workload([attrs.evolve(one, priority=1)]),
            Workload([attrs.evolve(one, abort=3.0)]),
            Workload([attrs.evolve(one, prefix=SharedPrefix(1, 16))]),
            Workload([attrs.evolve(one, prefix=SharedPrefix("1", 16))]),
        )
    }
    assert len(keys) == 6


# -- files and plugins ----------------------------------------------------------------------------


def test_a_trace_counts_by_its_bytes_and_not_by_its_place(tmp_path: Path) -> None:
    here = written(tmp_path / "a" / "one.csv", TRACE)
    there = written(tmp_path / "b" / "two.csv", TRACE)
    other = written(tmp_path / "b" / "one.csv", TRACE.replace("40", "41"))
    before = key(workload=f"csv:path={here}")
    assert key(workload=f"csv:path={there}") == before
    assert key(workload=f"csv:path={other}") != before
    assert key(workload=f"csv:path={there}:limit=2") != before
    here.write_text(other.read_text())
    assert key(workload=f"csv:path={here}") != before


def test_a_value_that_happens_to_name_a_file_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "64", "")
    written(tmp_path / "65", "")
    monkeypatch.chdir(tmp_path)
    keys = {key(workload=f"poisson:n=40:prompt_len={length}") for length in (64, 65, 66)}
    assert len(keys) == 3


def test_a_model_counts_by_its_configuration(tmp_path: Path) -> None:
    here = written(tmp_path / "a" / "config.json", CONFIG)
    there = written(tmp_path / "b" / "config.json", CONFIG)
    before = key(model=str(here))
    assert key(model=str(there)) == before
    there.write_text(CONFIG.replace("1024", "2048"))
    assert key(model=str(there)) != before
    folder = key(model=str(here.parent))
    written(tmp_path / "a" / "generation_config.json", "{}")
    assert key(model=str(here.parent)) != folder


def test_of_a_large_file_in_a_folder_the_size_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "m" / "config.json", CONFIG)
    weights = written(tmp_path / "m" / "model.safetensors", "x" * 1000)
    monkeypatch.setattr("sched_core.experiment.contents.LARGE", 999)
    before = key(model=str(tmp_path / "m"))
    weights.write_text("y" * 1000)
    assert key(model=str(tmp_path / "m")) == before
    weights.write_text("y" * 1001)
    assert key(model=str(tmp_path / "m")) != before


POLICY = """
import attrs
from sched_core import hookimpl

@attrs.define
class Latest:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request):
        return -request.arrival_time
"""
LATEST = "policy='latest', workload='poisson:n=40', config=EngineConfig(num_gpu_blocks=700)"


def test_a_plugin_counts_by_distribution_version_and_source(tmp_path: Path) -> None:
    def installed(place: str, name: str, code: str, version: str = "1.0") -> str:
        site = Site(tmp_path / place)
        site.install(name, code, {"latest": f"{name}:Latest"}, version)
        return key_elsewhere(LATEST, "0", tmp_path, site.path)

    first = installed("a", "mine", POLICY)
    assert installed("b", "mine", POLICY) == first, "not by where it is installed"
    edited = installed("c", "mine", POLICY.replace("-request", "+request"))
    newer = installed("d", "mine", POLICY, "1.1")
    another = installed("e", "yours", POLICY)
    assert len({first, edited, newer, another}) == 4
