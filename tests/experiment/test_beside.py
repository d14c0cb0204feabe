"""Paths in a scenario file."""

import json
from pathlib import Path

import pytest
from command_line import schedfw

from sched_core.experiment.scenario import load

TRACE = "arrival,prompt_len,output_len\n0,8,4\n1,8,4\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def write(folder: Path, **keys: object) -> Path:
    (folder / "run.json").write_text(json.dumps(keys))
    return Path("runs/run.json")


def test_a_trace_lies_beside_the_scenario(folder: Path) -> None:
    (folder / "rows.csv").write_text(TRACE)
    path = write(folder, requests={"workload": "csv:path=rows.csv:limit=1"})
    assert load(path).workload == "csv:path=runs/rows.csv:limit=1"
    assert schedfw("run", path).exit_code == 0
    option = schedfw("run", path, "--workload", "csv:path=runs/rows.csv")
    assert option.exit_code == 0, "an option's path is found from where one stands"


def test_a_trace_that_is_nowhere_is_named_with_its_place(folder: Path) -> None:
    (folder.parent / "rows.csv").write_text(TRACE)
    answer = schedfw("run", write(folder, requests={"workload": "csv:path=rows.csv"}))
    assert answer.exit_code == 2
    assert "runs/rows.csv: cannot be read: No such file" in answer.stderr


def test_a_model_may_lie_there_too(folder: Path) -> None:
    (folder / "small").mkdir()
    assert load(write(folder, model="small")).model == "runs/small"
    assert load(write(folder, model="llama-3-8b")).model == "llama-3-8b"


def test_what_is_absolute_or_the_standard_input_stays(folder: Path, tmp_path: Path) -> None:
    for path in ("-", str(tmp_path / "rows.csv")):
        keys = write(folder, requests={"workload": f"csv:path={path}"})
        assert load(keys).workload == f"csv:path={path}"


def test_a_name_that_means_nothing_is_told_as_it_was_written(folder: Path) -> None:
    answer = schedfw("run", write(folder, hardware="a1000:path=x"))
    assert "unknown hardware 'a1000'" in answer.stderr
