"""Decisions equal to those of the real vLLM scheduler, line by line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from harness import play, spec_of

GOLDEN = Path(__file__).parent / "golden"
FIELDS = (
    "scheduled",
    "admitted",
    "resumed",
    "preempted",
    "finished",
    "running",
    "waiting",
    "free_blocks",
)


def golden_lines(name: str) -> list[dict[str, Any]]:
    """The steps that did something; the trace's last line is its summary."""
    with gzip.open(GOLDEN / f"{name}.jsonl.gz", "rt") as lines:
        steps = [json.loads(line) for line in lines]
    return [step for step in steps if step.get("scheduled") or step.get("preempted")]


def ordered(line: dict[str, Any]) -> list[Any]:
    """The fields to compare; objects as lists of pairs, since their order is a decision too."""
    values = [line[field] for field in FIELDS]
    return [list(value.items()) if isinstance(value, dict) else value for value in values]


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.json")))
def test_equals_vllm(name: str) -> None:
    scenario = json.loads((GOLDEN / f"{name}.json").read_text())
    config = dict(scenario["config"])
    policy = config.pop("policy", "fcfs")
    played = play([spec_of(row) for row in scenario["requests"]], policy, **config)
    expected = golden_lines(name)
    for theirs, ours in zip(expected, played.lines, strict=False):
        assert ours["time"] == theirs["step"]
        assert ordered(ours) == ordered(theirs), f"at step {theirs['step']}"
    assert len(played.lines) == len(expected) > 0


def test_golden_set_is_complete() -> None:
    kinds = {path.stem.partition("-")[2] or path.stem for path in GOLDEN.glob("*.json")}
    assert kinds == {
        *("plain", "tight", "prio", "chunk", "threshold", "prefix", "prefix_prio", "watermark"),
        *("no_gate", "nochunk", "seqs", "staggered", "course", "preempt_fcfs"),
    }


def test_copies_equal_the_shared_traces(shared: Path) -> None:
    for path in sorted((shared / "golden-vllm").iterdir()):
        assert (GOLDEN / path.name).read_bytes() == path.read_bytes(), path.name
