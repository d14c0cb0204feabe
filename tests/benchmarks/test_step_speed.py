"""A step is measured with everyone decoding."""

from pathlib import Path

from benchmark_scripts import run_script


def test_steps_are_measured_in_every_way(tmp_path: Path) -> None:
    rows = run_script("step_speed.py", tmp_path, "--running", 8, "--steps", 20)
    assert [row["way"] for row in rows] == ["as one", "visited", "decodes first"]
    assert {(row["running"], row["steps"], row["vllm_us_per_step"]) for row in rows} == {
        (8, 100, 136)
    }
    assert all(row["us_per_step"] > 0 for row in rows)
