"""Conversations in rows like Mooncake's."""

import json
from typing import Any

import pytest
from harness import records, serve

from sched_core import UsageError

from ..conftest import Make, Write

WHOLE = [
    {"session_id": "a", "timestamp": 1000, "input_length": 20, "output_length": 13},
    {"session_id": "b", "timestamp": 500, "input_length": 8, "output_length": 4},
    {"session_id": "a", "delay": 2500.5, "input_length": 40, "output_length": 9},
    {"timestamp": 700, "input_length": 8, "output_length": 4},
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_whole_prompts_are_as_they_stand(write: Write, make: Make) -> None:
    path = write("s.jsonl", lines(WHOLE))
    workload = make(f"mooncake-sessions:path={path}:input_length=whole")
    found = [(s.session, s.turn, s.arrival, s.think_time, s.prompt_len) for s in workload.requests]
    assert found == [
        ("b", 0, 0.0, None, 8),
        (None, 0, 0.2, None, 8),
        ("a", 0, 0.5, None, 20),
        ("a", 1, 0.5, 2.5005, 40),
    ]


def test_added_tokens_come_to_all_that_was_said(write: Write, make: Make) -> None:
    rows = [*WHOLE, {"session_id": "a", "timestamp": 9000, "input_length": 5, "output_length": 1}]
    path = write("s.jsonl", lines(rows))
    requests = make(f"mooncake-sessions:path={path}:input_length=added").requests
    assert [s.prompt_len for s in requests if s.session == "a"] == [20, 73, 87]
    assert requests[-1].arrival == 8.5, "not before its own stamp"


def test_hash_ids_are_of_whole_prompts_and_are_found_again(write: Write, make: Make) -> None:
    rows = [WHOLE[0] | {"hash_ids": [7, 8]}, WHOLE[2] | {"hash_ids": [7, 9, 4]}]
    path = write("s.jsonl", lines(rows))
    workload = make(f"mooncake-sessions:path={path}:hash_block_size=16")
    served = records(serve(list(workload.requests), enable_prefix_caching=True))
    assert served["r1"]["cached_tokens"] == 32, "the answer before among them"


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, "", "line 3, field 'input_length': may be one thing or the other .found 40.*=added"),
        ({"delay": -1}, ":input_length=whole", "line 3, field 'delay'.*-1.*milliseconds from 0"),
        ({"session_id": "new"}, ":input_length=whole", "line 3, field 'timestamp': missing"),
        ({"dely": 3}, ":input_length=whole", "line 3: unknown column 'dely'; did you mean 'delay'"),
    ],
)
def test_what_cannot_be_known_is_refused(
    write: Write, make: Make, change: dict[str, Any], options: str, message: str
) -> None:
    path = write("s.jsonl", lines([*WHOLE[:2], WHOLE[2] | change]))
    with pytest.raises(UsageError, match=message):
        make(f"mooncake-sessions:path={path}{options}")
