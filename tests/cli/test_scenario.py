"""`schedfw scenario`, and the JSON Schema of scenario files."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import schedfw
from doc_pages import ROOT

from sched_core.errors import UsageError
from sched_core.experiment.scenario import from_keys, read
from sched_core.experiment.schema import schema

CHECKED_IN = ROOT / "docs" / "reference" / "scenario.schema.json"
ROW = {"id": "a", "arrival": 0, "prompt_len": 8, "output_len": 4}


def fits(keys: Any) -> bool:
    validator = jsonschema.Draft202012Validator(schema())
    return validator.is_valid(keys)


def test_the_schema_is_checked_in() -> None:
    printed = schedfw("scenario", "schema").stdout
    assert CHECKED_IN.read_text("utf-8") == printed, "schedfw scenario schema > this file"
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    "path", [*ROOT.glob("examples/*.json"), *ROOT.glob("tests/golden/*.json")], ids=lambda p: p.stem
)
def test_files_that_run_fit_it(path: Path) -> None:
    assert fits(read(path))


@pytest.mark.parametrize(
    "keys",
    [
        {"policy": "fcfs", "requests": {"workload": "poisson"}, "goodput": {"ttft@0": 5}},
        {"requests": [ROW, ROW | {"id": "b", "region": "eu", "ttft_slo": 0.5, "hash_ids": [1]}]},
        {"config": {"max_num_seqs": None, "batching": "static"}, "horizon": 5, "drain": True},
        {"requests": [{"id": "a", "arrival_step": 0, "prompt_len": 8, "output_len": 4}]},
    ],
)
def test_what_fits(keys: dict[str, Any]) -> None:
    assert fits(keys)


@pytest.mark.parametrize(
    "keys",
    [
        {"polcy": "fcfs"},
        {"config": {"blok_size": 16}},
        {"config": {"block_size": 0}},
        {"config": {"batching": "stat"}},
        {"config": {"watermark": 2}},
        {"horizon": "soon"},
        {"seed": -1},
        {"requests": {"workload": "poisson", "n": 5}},
        {"requests": [{"id": "a"}]},
        {"requests": [ROW | {"arrival_step": 1}]},
        {"requests": [ROW | {"prompt_len": -8}]},
        {"requests": [ROW | {"ttft_slo": -1}]},
        {"requests": [ROW | {"ends_by": "eos"}]},
    ],
)
def test_what_does_not_fit_is_refused_by_both(keys: dict[str, Any]) -> None:
    assert not fits(keys)
    with pytest.raises(UsageError):
        from_keys(keys, "here")


def test_a_new_file_runs_as_it_is_and_with_all_that_it_offers(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    assert schedfw("scenario", "new", file).exit_code == 0
    checked = schedfw("scenario", "check", file)
    assert (checked.exit_code, checked.stdout) == (0, f"{file}: fcfs, 1,000 requests\n")
    offered = file.read_text().replace("\n# ", "\n").split("\n\n", 1)[1]
    keys = tomllib.loads(offered)
    assert {"goodput", "config", "horizon", "hardware"} <= keys.keys()
    assert fits(keys)
    from_keys(keys, "here")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("there.toml", "there.toml: is there already; expected the name of a new file"),
        ("run.yaml", "run.yaml: is no TOML file; expected a name that ends in .toml"),
        ("no/run.toml", "no/run.toml: cannot be written: No such file or directory"),
    ],
)
def test_new_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.toml").write_text("mine")
    answer = schedfw("scenario", "new", name)
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert Path("there.toml").read_text() == "mine"


def test_check_tells_what_run_would(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"policy": "fcsf"}))
    answer = schedfw("scenario", "check", file)
    assert answer.exit_code == 2
    assert "unknown policy 'fcsf'; did you mean 'fcfs'?" in answer.stderr
