"""The recorded decisions of the real vLLM scheduler."""

import gzip
import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parent.parent / "golden"
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
