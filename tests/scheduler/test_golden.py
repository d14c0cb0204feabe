"""Decisions equal to those of the real vLLM scheduler, line by line."""

import json
from pathlib import Path

import pytest
from golden import GOLDEN, golden_lines, ordered
from harness import serve, spec_of


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.json")))
def test_equals_vllm(name: str) -> None:
    scenario = json.loads((GOLDEN / f"{name}.json").read_text())
    config = dict(scenario["config"])
    policy = config.pop("policy", "fcfs")
    served = serve([spec_of(row) for row in scenario["requests"]], policy, **config)
    expected = golden_lines(name)
    for theirs, ours in zip(expected, served.lines, strict=False):
        assert ours["time"] == theirs["step"]
        assert ordered(ours) == ordered(theirs), f"at step {theirs['step']}"
    assert len(served.lines) == len(expected) > 0


def test_golden_set_is_complete() -> None:
    kinds = {path.stem.partition("-")[2] or path.stem for path in GOLDEN.glob("*.json")}
    assert kinds == {
        *("plain", "tight", "prio", "chunk", "threshold", "prefix", "prefix_prio", "watermark"),
        *("no_gate", "nochunk", "seqs", "staggered", "course", "preempt_fcfs"),
    }


def test_copies_equal_the_shared_traces(shared: Path) -> None:
    for path in sorted((shared / "golden-vllm").iterdir()):
        assert (GOLDEN / path.name).read_bytes() == path.read_bytes(), path.name
