"""The benchmark runs, at a size that takes no time; how fast it is, no test says."""

from pathlib import Path

import pytest
from benchmark_scripts import load_script, run_script


def test_the_benchmark_measures_whole_runs(tmp_path: Path) -> None:
    rows = run_script("engine_speed.py", tmp_path, "--requests", 200, "--rate", 5)
    assert [row["leaps"] for row in rows] == [False, True]
    assert {row["finished"] for row in rows} == {200}
    stepped, leapt = (row["steps"] for row in rows)
    assert stepped == leapt > 200
    assert all(row["peak_bytes"] >= row["run_bytes"] >= 0 < row["seconds"] for row in rows)


def test_a_lower_rate_takes_longer_to_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = load_script("engine_speed", monkeypatch).measure
    fast, slow = measure(50, 5.0, True), measure(50, 3.0, True)
    assert fast["finished"] == slow["finished"] == 50
    assert slow["simulated_seconds"] > fast["simulated_seconds"] >= fast["busy_seconds"] > 0
