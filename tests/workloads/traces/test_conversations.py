"""Conversations: first turns as requests, tokens counted or estimated, arrivals drawn."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sched_core import InputError

from ..conftest import Make, Write

SHAREGPT = [
    {"id": "a", "conversations": [
        {"from": "human", "value": "x" * 40}, {"from": "gpt", "value": "y" * 10},
        {"from": "human", "value": "more"}, {"from": "gpt", "value": "less"}]},
    {"id": "b", "conversations": [{"from": "human", "value": "Hi"}]},
    {"id": "c", "conversations": [
        {"from": "gpt", "value": "Hello"}, {"from": "human", "value": "Hi"}]},
    {"id": "d", "conversations": [{"from": "human", "value": ""}, {"from": "gpt", "value": "."}]},
    {"id": "e", "conversations": [{"from": "human", "value": "?"}, {"from": "gpt", "value": "!"}]},
]  # fmt: skip

LMSYS = [
    {"conversation_id": "a", "model": "m", "turn": 1, "language": "English", "redacted": False,
     "conversation": [{"role": "user", "content": "x" * 40},
                      {"role": "assistant", "content": "y" * 10}]},
]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
def test_the_first_turn_is_the_prompt_and_its_answer_the_output(
    write: Write, make: Make, indent: int | None
) -> None:
    path = write("s.json", json.dumps(SHAREGPT, indent=indent))
    workload = make(f"sharegpt:path={path}:request_rate=2")
    assert [(r.prompt_len, r.output_len) for r in workload.requests] == [(10, 2), (1, 1)]
    assert workload.dropped == {"no answer": 1, "not begun by the user": 1, "an empty turn": 1}
    assert workload.description["turns"] == "the first of each conversation"
    assert workload.description["tokens"] == "characters / 4, not counted"


def test_the_ratio_is_a_parameter_and_stated(write: Write, make: Make) -> None:
    path = write("s.json", json.dumps(SHAREGPT))
    workload = make(f"sharegpt:path={path}:request_rate=2:chars_per_token=2.5")
    assert workload.requests[0].prompt_len == 16
    assert workload.description["tokens"] == "characters / 2.5, not counted"


def test_lmsys_and_wildchat_are_one_object_a_line_or_parquet(
    write: Write, make: Make, tmp_path: Path
) -> None:
    path = write("l.jsonl", "".join(json.dumps(row) + "\n" for row in LMSYS * 2))
    plain = make(f"lmsys:path={path}:request_rate=2")
    assert [(r.prompt_len, r.output_len) for r in plain.requests] == [(10, 2)] * 2
    pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'schedfw[files]'")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(LMSYS * 2), tmp_path / "l.parquet")
    packed = make(f"lmsys:path={tmp_path / 'l.parquet'}:request_rate=2")
    assert packed.requests == plain.requests


def test_arrivals_are_a_poisson_process_of_the_seed(write: Write, make: Make) -> None:
    path = write("l.jsonl", "".join(json.dumps(row) + "\n" for row in LMSYS * 2000))
    spec = f"lmsys:path={path}:request_rate=5"
    arrivals = [request.arrival for request in make(spec, 1).requests]
    assert arrivals == [request.arrival for request in make(spec, 1).requests]
    assert arrivals != [request.arrival for request in make(spec, 2).requests]
    assert arrivals == sorted(arrivals)
    assert 1999 / arrivals[-1] == pytest.approx(5, rel=0.1)


@pytest.mark.parametrize(("reader", "name"), [("sharegpt", "sharegpt"), ("trace", "sharegpt")])
def test_without_a_rate_it_is_asked_for(write: Write, make: Make, reader: str, name: str) -> None:
    path = write("s.json", json.dumps(SHAREGPT))
    with pytest.raises(InputError) as caught:
        make(f"{reader}:path={path}")
    assert str(caught.value) == (
        f"{path}, field 'request_rate': it holds no arrivals; expected requests a second: "
        f"{name}:path=FILE:request_rate=5"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"conversations": "hello"},
            "s.json[0], field 'conversations': cannot be used (found 'hel",
        ),
        ({"conversations": ["a", "b"]}, "s.json[0], field 'conversations': holds none at 0"),
        (
            {"conversations": [{"value": "a"}, {"value": "b"}]},
            "s.json[0], field 'conversations[0].from': missing",
        ),
    ],
)
def test_what_is_no_conversation_is_refused(
    write: Write, make: Make, row: Any, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"sharegpt:path={write('s.json', json.dumps([row]))}:request_rate=1")
    assert message in str(caught.value)


def test_a_tokenizer_counts_where_there_is_one(write: Write, make: Make, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="no tokenizers")
    pytest.importorskip("transformers", reason="no transformers: pip install 'schedfw[torch]'")
    from tokenizers import models, pre_tokenizers

    words = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    turns = [{"from": "human", "value": "one two three"}, {"from": "gpt", "value": "four five"}]
    path = write("s.json", json.dumps([{"conversations": turns}]))
    workload = make(f"sharegpt:path={path}:request_rate=1:tokenizer={tmp_path}")
    assert [(r.prompt_len, r.output_len) for r in workload.requests] == [(3, 2)]
    assert "tokens" not in workload.description
    assert workload.description["tokenizer"] == str(tmp_path)


def test_a_tokenizer_that_is_not_there_is_refused(
    write: Write, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("s.json", json.dumps(SHAREGPT))
    with pytest.raises(InputError, match=r"'tokenizer': no such folder .found 'nowhere'"):
        make(f"sharegpt:path={path}:request_rate=1:tokenizer=nowhere")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"needs transformers.*schedfw\[torch\].*chars_per_token"):
        make(f"sharegpt:path={path}:request_rate=1:tokenizer={tmp_path}")
