"""`trace:path=...` tells a format by its columns, and never guesses."""

import json
from pathlib import Path

import pytest
from sched_plugins.workloads.any_trace import READERS
from sched_plugins.workloads.traces.formats import FORMATS

from sched_core import InputError, UnknownName

from ..conftest import Make, Write

SMALL = {
    "azure": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n",
    "burstgpt": "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,472,18,490,Conversation log\n",
    "mooncake": '{"timestamp": 0, "input_length": 9, "output_length": 5, "hash_ids": [0]}\n',
    "mooncake-sessions": '{"session_id": "a", "timestamp": 0, "input_length": 9, '
    '"output_length": 5}\n',
    "vidur": "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n",
    "aibrix": '{"timestamp": 21, "requests": [{"Prompt Length": 9, "Output Length": 2}]}\n',
    "llmservingsim": '{"input_toks": 10, "output_toks": 70, "arrival_time_ns": 46926808}\n',
    "vllm-bench": '{"start_times": [7.5], "input_lens": [9], "output_lens": [2], "ttfts": [0.1]}',
    "guidellm": '{"metadata": {}, "benchmarks": [{"requests": {"successful": ['
    '{"request_start_time": 1.5, "prompt_tokens": 9, "output_tokens": 2}]}}]}',
    "aiperf": '{"metadata": {"request_start_ns": 1}, "metrics": {"input_sequence_length": '
    '{"value": 9}, "output_sequence_length": {"value": 2}}, "error": null}\n',
    "sharegpt": '[{"id": "a", "conversations": [{"from": "human", "value": "Hi?"}, '
    '{"from": "gpt", "value": "Hello."}]}]',
    "lmsys": '{"conversation": [{"role": "user", "content": "Hi?"}, '
    '{"role": "assistant", "content": "Hello."}]}\n',
    "csv": "arrival,prompt_len,output_len\n0,8,1\n",
    "jsonl": '{"arrival": 0, "prompt_len": 8, "output_len": 1}\n',
}


def test_every_format_has_a_reader_and_an_example() -> None:
    assert READERS.keys() == FORMATS.keys() == SMALL.keys() | {"parquet"}


@pytest.mark.parametrize("name", [name for name in SMALL if name not in ("sharegpt", "lmsys")])
def test_the_columns_tell_the_format_whatever_the_files_name(
    write: Write, make: Make, name: str
) -> None:
    path = write("file.dat", SMALL[name])
    workload = make(f"trace:path={path}:time_scale=2")
    assert workload == make(f"{name}:path={path}:time_scale=2")
    assert workload.description["format"] == name


@pytest.mark.parametrize("name", SMALL)
def test_a_reader_refuses_every_other_format_and_names_it(
    write: Write, make: Make, name: str
) -> None:
    for other in SMALL.keys() - {name}:
        with pytest.raises(InputError, match=f"not in the {name} format; it looks like {other} "):
            make(f"{name}:path={write('file.dat', SMALL[other])}")


def test_an_unknown_header_is_refused_with_what_was_seen_and_the_candidates(
    write: Write, make: Make
) -> None:
    path = write("t.csv", "when,how_long\n0,8\n")
    with pytest.raises(InputError) as caught:
        make(f"trace:path={path}")
    assert "found 'when, how_long'" in str(caught.value)
    for name in ("azure", "burstgpt", "vidur", "csv"):
        assert f"{name}: " in str(caught.value)
    assert "mooncake: " not in str(caught.value), "that is no CSV"
    assert str(caught.value).endswith(
        "csv:path=FILE:arrival=COLUMN:prompt_len=COLUMN:output_len=COLUMN"
    )


def test_columns_of_two_formats_are_refused(write: Write, make: Make) -> None:
    header = "arrived_at,num_prefill_tokens,num_decode_tokens,arrival,prompt_len,output_len"
    path = write("t.csv", header + "\n0,8,1,0,8,1\n")
    with pytest.raises(InputError, match=r"for sure; it looks like vidur or csv .*expected vidur"):
        make(f"trace:path={path}")


def test_a_misspelt_optional_column_is_still_found(write: Write, make: Make) -> None:
    path = write("t.csv", "arrival,prompt_len,output_len,tennant\n0,8,1,a\n")
    with pytest.raises(UnknownName, match="did you mean 'tenant'"):
        make(f"trace:path={path}")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"timestamp": "82", "input_length": 9, "output_length": 5,
          "hash_ids": {"sys_prompt": [1]}, "session_id": "1"}, "looks like RAGPulse"),
        ({"chat_id": 1, "parent_chat_id": -1, "timestamp": 61.1, "input_length": 9,
          "output_length": 5, "type": "text", "turn": 1, "hash_ids": [0]}, "looks like Bailian"),
        ({"prompt": "Hello", "output_tokens": 5}, "texts without lengths"),
        ({"config": {}, "result": {}}, "results, not requests"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("reader", ["trace", "mooncake", "azure", "jsonl"])
def test_formats_that_would_be_misread_are_refused_with_the_reason(
    write: Write, make: Make, reader: str, row: dict[str, object], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        make(f"{reader}:path={write('t.jsonl', json.dumps(row))}")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("vidur/arxiv_summarization_lengths.rows1-5000.csv", "it holds no arrivals"),
        ("ragpulse/0_trace.first48h.jsonl", "looks like RAGPulse"),
        ("servegen/language/m-large/chunk-0-trace.csv", "no header, as in ServeGen"),
        ("servegen/language/m-large/chunk-106-trace.csv", "no header, as in ServeGen"),
        ("servegen/language/m-large/chunk-106-dataset.json", "looks like ServeGen"),
        ("splitwise-sim/test_trace.csv", "Splitwise simulator"),
        ("tracelab/multi_session_example.csv", "looks like TraceLab"),
        ("tracelab/round_trace.jsonl", "looks like TraceLab"),
        ("vtc/VTC_all_results_real.jsonl", "results, not requests"),
        ("blis/servegen-language.yaml", "for sure.*expected azure"),
    ],
)
@pytest.mark.parametrize("reader", ["trace", "vidur"])
def test_public_files_we_cannot_read_are_refused(
    shared: Path, make: Make, reader: str, name: str, reason: str
) -> None:
    if reader == "vidur" and name.endswith(".yaml"):
        reason = "not in the vidur format"
    with pytest.raises(InputError, match=reason):
        make(f"{reader}:path={shared / 'data' / name}")
