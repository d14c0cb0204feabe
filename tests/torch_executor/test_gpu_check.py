"""The program for GPUs runs, on a CPU and tiny models; what a GPU does, only a GPU can show."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from click.testing import CliRunner, Result
from doc_pages import ROOT

from hwmodels.measured.calibration import read
from hwmodels.torch_executor.step.packing import pack
from hwmodels.torch_executor.step.pool import KVPool

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: Patch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def run_script(python: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """What `gpu_check.sh` does."""
    return subprocess.run(
        ["bash", ROOT / "benchmarks" / "gpu_check.sh", *arguments],
        env={**os.environ, "PYTHON": python},
        capture_output=True,
        text=True,
        timeout=300,
    )


def ran(folder: Path) -> tuple[Result, dict[str, Any]]:
    """(what the program did here, what it wrote)"""
    from gpu_check.__main__ import main

    result = CliRunner().invoke(main, ["--device", "cpu", "--out", str(folder)])
    return result, written_to(folder)


def written_to(folder: Path) -> dict[str, Any]:
    text = (folder / "gpu_check-cpu-quick.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def test_every_check_runs_and_is_written_down(tmp_path: Path) -> None:
    from gpu_check.check import CHECKS

    done = run_script(sys.executable, "--device", "cpu", "--out", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    written = written_to(tmp_path)
    assert written["finished"]
    assert written["machine"]["name"] == "cpu"
    assert list(written["checks"]) == [check.name for check in CHECKS]
    figures = {name: row["figures"] for name, row in written["checks"].items()}
    assert {row["result"] for row in written["checks"].values()} == {"pass"}
    assert [row["same"] for row in figures["tokens"]["runs"]] == [4, 4]
    assert [row["swap_outs"] > 0 for row in figures["tokens"]["runs"]] == [False, True]
    assert all(row["graphs"] > 1 for row in figures["graph_tokens"]["runs"])
    assert all(0 < row["paged"] < 0.1 for row in figures["logits"]["errors"])
    assert all(row["seconds"] > 0 for row in figures["step_times"]["steps"])
    assert all(row["out"] > 0 < row["in"] for row in figures["swap_bandwidth"]["speeds"])
    assert {row["load"] for row in figures["validation"]["figures"]} == {"light", "overload"}
    assert [row["racer"] for row in figures["race"]["racers"]] == [
        "torch executor",
        "generate_batch",
    ]
    assert read(tmp_path / figures["calibration"]["file"]).model == "tiny-llama"
    left_out = {name for name, row in written["checks"].items() if row["left_out"]}
    assert left_out == {"logits", "late_copies", "waits", "graph_tokens", "graph_times"}


def slots_off_by_one(patch: Patch) -> None:
    write = KVPool.write
    patch.setattr(KVPool, "write", lambda pool, at, slots, *kv: write(pool, at, slots + 1, *kv))


def nothing_comes_back(patch: Patch) -> None:
    patch.setattr(KVPool, "swap_in", lambda pool, swaps: None)


def positions_that_do_not_move(patch: Patch) -> None:
    def packed(*how: Any) -> Any:
        batch = pack(*how)
        return attrs.evolve(batch, positions=batch.positions.clamp_max(30))

    patch.setattr("gpu_check.checks.logits.pack", packed)


@pytest.mark.parametrize(
    ("fault", "caught_by", "passed_by"),
    [
        (slots_off_by_one, {"tokens", "late_copies", "graph_tokens"}, {"swap_bandwidth"}),
        (nothing_comes_back, {"late_copies", "swap_bandwidth"}, {"waits"}),
        (positions_that_do_not_move, {"logits"}, {"waits"}),
    ],
)
def test_faults_are_caught_and_the_other_checks_run(
    fault: Any, caught_by: set[str], passed_by: set[str], tmp_path: Path, monkeypatch: Patch
) -> None:
    from gpu_check.check import CHECKS
    from gpu_check.runs import loaded

    loaded("tiny-llama", torch.device("cpu"))  # or the gate refuses it: see test_faults
    some = [check for check in CHECKS if check.name in caught_by | passed_by]
    monkeypatch.setattr("gpu_check.__main__.CHECKS", some)
    fault(monkeypatch)
    result, written = ran(tmp_path)
    assert result.exit_code == 1
    assert written["finished"]
    found = {name: row["result"] for name, row in written["checks"].items()}
    assert found == dict.fromkeys(caught_by, "FAIL") | dict.fromkeys(passed_by, "pass")
    assert all(row["wrong"] for row in written["checks"].values() if row["result"] == "FAIL")


def test_without_time_nothing_is_run_and_that_is_said(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr("gpu_check.__main__.LIMIT", 20)
    result, written = ran(tmp_path)
    assert result.exit_code == 0
    assert {row["result"] for row in written["checks"].values()} == {"skipped"}
    assert "s are left of 20, and it may take 100" in result.output


def test_a_file_says_that_checks_are_missing_until_all_are_there(tmp_path: Path) -> None:
    from gpu_check.check import CHECKS, Outcome
    from gpu_check.process import Answer
    from gpu_check.report import Report

    path = tmp_path / "report.json"
    report = Report(path, {}, quick=True)
    report.add(CHECKS[0], Answer(Outcome({"error": float("nan")})), 1.0)
    written = json.loads(path.read_text("utf-8"))
    assert (written["finished"], written["checks"]["tokens"]["figures"]) == (False, {"error": None})
    report.finish()
    assert json.loads(path.read_text("utf-8"))["finished"]


def test_a_process_that_hangs_or_dies_is_replaced(monkeypatch: Patch) -> None:
    from gpu_check.process import Apart

    apart = Apart()
    try:
        assert apart.call("math:sqrt", 4.0, 60).value == 2
        assert apart.call("math:sqrt", -4.0, 60).reason == "ValueError: math domain error"
        assert apart.call("time:sleep", 60, 0.1).reason == "not done after 0.1 s"
        assert apart.call("os:_exit", 3, 60).reason == "its process ended with status 3"
        assert apart.call("math:sqrt", 9.0, 60).value == 3
    finally:
        apart.close()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_device_it_says_so(tmp_path: Path, monkeypatch: Patch) -> None:
    from gpu_check.__main__ import main
    from gpu_check.process import Here

    monkeypatch.setattr("gpu_check.__main__.Apart", Here)
    result = CliRunner().invoke(main, ["--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "there is no CUDA device here" in result.output
    assert not list(tmp_path.iterdir())


def test_without_torch_it_says_so() -> None:
    done = run_script("false")
    assert done.returncode == 2
    assert "false has no torch and transformers: pip install torch" in done.stderr
