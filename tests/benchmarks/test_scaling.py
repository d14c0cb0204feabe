"""The growth table: in each range only what it names grows, and the loads do what they say."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmark_scripts import load_script, run_script

POINTS = [
    *[("requests", load) for load in ("fcfs", "aging", "vtc", "caching", "preempt", "swap")],
    *[("running", load) for load in ("fcfs", "visited", "caching", "preempt")],
    *[("waiting", load) for load in ("sjf", "event-keys", "time-keys", "caching", "swap")],
    *[("blocks", load) for load in ("priority", "caching")],
]


@pytest.fixture
def scaling(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("scaling", monkeypatch)


def points(scaling: Any, name: str, load: str, trace: Path | None = None) -> list[dict[str, Any]]:
    sizes = scaling.RANGES[name].quick_sizes
    return [scaling.measure(name, load, size, trace, quick=True) for size in sizes]


@pytest.mark.parametrize(("name", "load"), POINTS)
def test_a_point_is_served_and_measured(scaling: Any, name: str, load: str) -> None:
    for point in points(scaling, name, load):
        assert point["served"] >= min(point["size"], scaling.QUICKLY_SERVED)
        assert point["us_per_request"] > 0 <= point["bytes_per_request"]
        assert (point["preemptions"] > 0) == (load in scaling.STORMS)
        assert (point["swap_outs"] > 0) == (load == "swap")


@pytest.mark.parametrize("load", ["fcfs", "caching", "preempt"])
def test_running_is_how_many_run(scaling: Any, load: str) -> None:
    for point in points(scaling, "running", load):
        assert point["peak_running"] == point["size"]
        assert point["finished"] == point["served"]


@pytest.mark.parametrize("load", ["fcfs", "vtc", "event-keys", "caching"])
def test_waiting_is_how_many_wait_to_the_end(scaling: Any, load: str) -> None:
    for point in points(scaling, "waiting", load):
        assert point["waiting"] == point["size"]
        assert 0 < point["running"] <= 8
        assert point["pending"] > 0


def test_a_storm_keeps_those_waiting_that_lost_their_seat(scaling: Any) -> None:
    for point in points(scaling, "waiting", "preempt"):
        assert point["waiting"] >= point["size"]
        assert point["waiting"] + point["running"] <= point["size"] + 8


def test_blocks_change_nothing_else(scaling: Any) -> None:
    small, large = points(scaling, "blocks", "fcfs")
    assert small["steps"] == large["steps"]


def test_made_rows_share_what_a_conversation_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_script("loads", monkeypatch).conversations(400)
    assert {row.prefix.ids[0] for row in rows} == {0}
    assert all(len(row.prefix.ids) == -(-row.prompt_len // 512) for row in rows)
    seen = [row.prefix.ids[:2] for row in rows]
    assert len(set(seen)) < len(seen)


def test_rows_of_a_trace_come_again_with_contents_of_their_own(
    scaling: Any, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    row = {"timestamp": 0, "input_length": 600, "output_length": 4, "hash_ids": [0, 1]}
    trace.write_text(json.dumps(row) + "\n", "utf-8")
    once, _ = points(scaling, "requests", "caching", trace)
    assert once["finished"] == 64
    assert once["prefix_hits"] == 0


def test_growth_is_the_most_over_the_smallest_size(scaling: Any) -> None:
    row = [{"us_per_request": cost} for cost in (2.0, 5.0, 3.0)]
    assert scaling.growth(row) == 2.5


def test_the_script_measures_what_is_chosen(tmp_path: Path) -> None:
    chosen = ("--quick", "--range", "blocks", "--load", "fcfs", "--at-most", 1000)
    (point,) = run_script("scaling.py", tmp_path, *chosen)
    assert (point["range"], point["load"], point["size"]) == ("blocks", "fcfs", 1000)
    assert point["finished"] == 64
