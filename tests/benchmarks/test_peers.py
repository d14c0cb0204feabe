"""The race with the peers, most of them absent where the tests run."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmark_scripts import load_script, run_script


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A Python with nothing installed."""
    python = tmp_path / "bare"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', "utf-8")
    python.chmod(0o755)
    return python


def test_peers_that_are_not_installed_are_left_out(tmp_path: Path, bare: Path) -> None:
    found = run_script("peers.py", tmp_path, "--requests", 30, "--rounds", 1, "--python", bare)
    ours = {name: figures for name, figures in found.items() if name.startswith("schedfw")}
    assert {figures["finished"] for figures in ours.values()} == {30}
    assert ours["schedfw"]["speed_by_ours"] == 1.0
    others = [figures for name, figures in found.items() if name not in ours]
    assert len(others) == 3
    assert all("No module named" in figures["missing"] for figures in others)


def test_everyone_gets_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peers, rows = load_script("peers", monkeypatch), tmp_path / "rows.jsonl"
    peers.write_rows(rows, 20, 5.0)
    read = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    specs = load_script("measuring", monkeypatch).common_workload(20).requests
    assert [row["input_length"] for row in read] == [spec.prompt_len for spec in specs]
    assert [row["timestamp"] for row in read] == [spec.arrival * 1000 for spec in specs]
    ids = [block for row in read for block in row["hash_ids"]]
    assert ids == list(range(len(ids)))


def test_the_median_round_counts_and_ratios_are_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    peers: Any = load_script("peers", monkeypatch)
    rounds = [
        {"schedfw": {"seconds": ours}, "other": {"seconds": theirs}, "gone": {"missing": "x"}}
        for ours, theirs in ((1.0, 2.0), (4.0, 4.0), (2.0, 1.0))
    ]
    chosen = peers.medians(rounds)
    assert chosen["schedfw"] == {"seconds": 2.0, "speed_by_ours": 1.0}
    assert chosen["other"] == {"seconds": 2.0, "speed_by_ours": 1.0}
    assert chosen["gone"] == {"missing": "x"}
