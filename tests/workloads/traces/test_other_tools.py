"""Workload files of other tools: AIBrix, LLMServingSim, Dynamo, AIPerf."""

import json
from pathlib import Path

import pytest

from sched_core import InputError, UnknownName

from ..conftest import Make, Write


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def sent(make: Make, spec: str) -> list[tuple[float, int, int]]:
    return [(r.arrival, r.prompt_len, r.output_len) for r in make(spec).requests]


@pytest.mark.parametrize(
    ("prompt", "output"), [("prompt_length", "output_length"), ("Prompt Length", "Output Length")]
)
def test_aibrix_sends_several_requests_at_one_millisecond(
    write: Write, make: Make, prompt: str, output: str
) -> None:
    def part(tokens: int, out: int | None, session: object = None) -> dict[str, object]:
        return {"prompt": "...", prompt: tokens, output: out, "session_id": session}

    path = write(
        "w.jsonl",
        lines(
            {"timestamp": 21, "requests": [part(909, 22), part(557, 21, 0)]},
            {"timestamp": 26, "requests": []},
            {"timestamp": 521, "requests": [part(547, None), part(9, 1, 1)]},
        ),
    )
    assert sent(make, f"trace:path={path}") == [(0.0, 909, 22), (0.0, 557, 21), (0.5, 9, 1)]
    assert make(f"aibrix:path={path}").dropped == {"no output length": 1}


def test_a_second_turn_of_aibrix_waits_and_is_refused(write: Write, make: Make) -> None:
    part = {"prompt_length": 9, "output_length": 2, "session_id": 7}
    path = write("w.jsonl", lines({"timestamp": 0, "requests": [part, part]}))
    with pytest.raises(InputError) as caught:
        make(f"aibrix:path={path}")
    assert str(caught.value) == (
        f"{path}, line 1, field 'requests[1].session_id': a later turn, which waits for the answer "
        "before it (found 7); expected one request of each session"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"timestamp": 1, "requests": {}},
            "field 'requests': cannot be used (found 'a dict of 0')",
        ),
        ({"timestamp": 1, "requests": [3]}, "field 'requests': holds none at 0"),
        (
            {"timestamp": 1, "requests": [{"output_length": 2}]},
            "[0].prompt_length': missing",
        ),
        ({"timestamp": -1, "requests": []}, "field 'timestamp': cannot be used (found -1)"),
    ],
)
def test_what_aibrix_would_not_write_is_refused(
    write: Write, make: Make, row: object, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"aibrix:path={write('w.jsonl', lines(row))}")
    assert message in str(caught.value)


def test_llmservingsim_counts_nanoseconds_and_its_token_ids_are_not_compared(
    write: Write, make: Make
) -> None:
    first = {"input_toks": 10, "output_toks": 70, "arrival_time_ns": 46926808}
    second = {**first, "arrival_time_ns": 46926809, "input_tok_ids": [1], "output_tok_ids": [2]}
    path = write("w.jsonl", lines(second, first))
    assert sent(make, f"trace:path={path}") == [(0.0, 10, 70), (1e-9, 10, 70)]
    description = make(f"llmservingsim:path={path}").description
    assert description["not_read"] == "input_tok_ids: no prompt shares a prefix"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {"session_id": "s", "arrival_time_ns": 5, "sub_requests": [{"input_toks": 1}]},
            "agents of LLMServingSim: its turns wait for the answer before",
        ),
        (
            {"schema_version": "aibrix.agent-session.v1", "timestamp": 3, "requests": [],
             "events": []},
            "agents of AIBrix: its turns wait for the answer before",
        ),
        ({"text_input": "Hi", "output_length": 20}, "AIPerf's prompts: it holds texts"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("reader", ["trace", "mooncake", "aibrix", "llmservingsim"])
def test_what_waits_for_answers_is_told_apart(
    write: Write, make: Make, reader: str, row: object, reason: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"{reader}:path={write('w.jsonl', lines(row))}")
    assert f"it looks like {reason}" in str(caught.value)


def test_a_session_that_begins_in_a_later_row_is_found_there(write: Write, make: Make) -> None:
    plain = {"timestamp": 0, "input_length": 9, "output_length": 2}
    path = write("w.jsonl", lines(plain, {**plain, "session_id": "s"}))
    with pytest.raises(UnknownName, match=r"w\.jsonl, line 2: unknown column 'session_id'"):
        make(f"trace:path={path}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aibrix.jsonl", [(0.0, 909, 22)]),
        ("aiperf_no_hashes.jsonl", [(0.0, 1500, 1), (0.1, 1500, 1)]),
        ("azure_int_ms.csv", [(0.0, 4808, 10), (0.052, 3180, 8)]),
        ("dynamo_float_ms.jsonl", [(0.0, 1024, 5), (0.0275, 1024, 8)]),
        ("llmservingsim.jsonl", [(0.0, 10, 70)]),
    ],
)
def test_rows_that_others_reported_are_read(
    shared: Path, make: Make, name: str, expected: list[tuple[float, int, int]]
) -> None:
    path = shared / "cases2" / "O39-rows-of-other-tools" / name
    assert sent(make, f"trace:path={path}") == expected


def test_dynamos_sessions_are_sessions(shared: Path, make: Make) -> None:
    path = shared / "cases2" / "O39-rows-of-other-tools" / "dynamo_session.jsonl"
    first, second = make(f"trace:path={path}").requests
    assert (first.session, first.turn, first.think_time, first.prompt_len) == ("s", 0, None, 1024)
    assert (second.session, second.turn, second.think_time) == ("s", 1, 0.003)
    with pytest.raises(
        InputError, match="not in the mooncake format; it looks like mooncake-sessions"
    ):
        make(f"mooncake:path={path}")
