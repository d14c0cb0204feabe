"""The benchmark runs, at a size that takes no time; how fast it is, no test says."""

import json
import subprocess
import sys
from pathlib import Path

from doc_pages import ROOT


def test_the_benchmark_measures_whole_runs(tmp_path: Path) -> None:
    script, figures = ROOT / "benchmarks" / "engine_speed.py", tmp_path / "speed.json"
    command = [sys.executable, script, "--requests", "200", "--json", figures]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, timeout=60)
    rows = json.loads(figures.read_text("utf-8"))
    assert [row["leaps"] for row in rows] == [False, True]
    assert {row["finished"] for row in rows} == {200}
    stepped, leapt = (row["steps"] for row in rows)
    assert stepped == leapt > 200
    assert all(row["peak_bytes"] >= row["run_bytes"] >= 0 < row["seconds"] for row in rows)
