"""Bad input is tried, not assumed: each kind of wrong file, spec and column, with its message."""

import gzip
from pathlib import Path

import pytest
from command_line import schedfw

HEADER = "arrival,prompt_len,output_len"
PLAIN = f"{HEADER}\n0,8,1\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
MOONCAKE = '{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [0, 1]}\n'

SECONDS = "expected seconds from 0 to 9000000000, or a date such as 2023-11-16T18:17:03Z"
TOKENS = "expected an integer from 0 to 2147483647"
FIELDS = (
    "(known: abort, arrival, deadline, e2el_slo, ends_by, id, output_len, prefix_group, "
    "prefix_len, priority, prompt_len, session, tenant, think_time, tpot_slo, ttft_slo, turn, "
    "weight)"
)
ONE_A_LINE = "expected one whole JSON object on each line"
LISTED = "expected one of the formats that `schedfw workloads list` tells"

CASES: list[tuple[str | bytes | None, str, str]] = [
    (None, "csv:path=t.csv", "t.csv: cannot be read: No such file or directory"),
    ("", "csv:path=t.csv", "t.csv: the file is empty"),
    ("\n \n", "trace:path=t.csv", "t.csv: the file is empty"),
    (HEADER + "\n", "csv:path=t.csv", "t.csv: no usable request in 0 rows"),
    (
        b"\xff\xfea\x00",
        "csv:path=t.csv",
        "t.csv: is not UTF-8 text: 'utf-8' codec can't decode byte 0xff in position 0: "
        "invalid start byte",
    ),
    (
        b"\x89PNG\r\n\x1a\n",
        "csv:path=t.csv",
        "t.csv: is not UTF-8 text: 'utf-8' codec can't decode byte 0x89 in position 0: "
        "invalid start byte",
    ),
    (
        gzip.compress(PLAIN.encode(), mtime=0)[:-9],
        "csv:path=t.csv",
        "t.csv: is damaged: Compressed file ended before the end-of-stream marker was reached",
    ),
    (
        b"PK\x03\x04zip",
        "csv:path=t.csv",
        "t.csv: is a zip archive; expected what is in it, plain or as gzip",
    ),
    (None, "trace:path=.", ".: cannot be read: Is a directory"),
    (
        "0,8,1\n1,9,1\n",
        "csv:path=t.csv",
        "t.csv, line 1, field 'arrival': not in the csv format; the first line is no "
        "header (found '0, 8, 1'); expected a CSV header with arrival, prompt_len, "
        "output_len",
    ),
    (
        "arrival;prompt_len;output_len\n0;8;1\n",
        "csv:path=t.csv",
        "t.csv, line 1, field 'arrival': not in the csv format; its cells are "
        "separated otherwise: csv:path=FILE:sep=; (found "
        "'arrival;prompt_len;output_len'); expected a CSV header with arrival, "
        "prompt_len, output_len",
    ),
    (
        "arrival\tprompt_len\toutput_len\n0\t8\t1\n",
        "trace:path=t.csv",
        "t.csv, line 1: no format that can be told for sure; its cells are separated "
        "otherwise: csv:path=FILE:sep=tab (found 'arrival\\tprompt_len\\toutput_len'); "
        f"{LISTED}",
    ),
    (
        HEADER + ",arrival\n0,8,1,0\n",
        "csv:path=t.csv",
        "t.csv, line 1: a column is named twice (found 'arrival')",
    ),
    (
        PLAIN + "1,8\n",
        "csv:path=t.csv",
        "t.csv, line 3: the row does not fit the header (found '1,8'); expected 3 "
        "cells: arrival, prompt_len, output_len",
    ),
    (
        PLAIN + "1,8,1,9\n",
        "csv:path=t.csv",
        "t.csv, line 3: the row does not fit the header (found '1,8,1,9'); expected 3 "
        "cells: arrival, prompt_len, output_len",
    ),
    (PLAIN + '1,"8,1\n', "csv:path=t.csv", "t.csv, line 3: is not CSV: unexpected end of data"),
    (
        PLAIN + "soon,8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'arrival': cannot be used (found 'soon'); {SECONDS}",
    ),
    (
        PLAIN + "-1,8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'arrival': cannot be used (found '-1'); {SECONDS}",
    ),
    (
        PLAIN + "nan,8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'arrival': cannot be used (found 'nan'); {SECONDS}",
    ),
    (
        PLAIN + ",8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'arrival': missing (found ''); {SECONDS}",
    ),
    (
        PLAIN + '"1,5",8,1\n',
        "csv:path=t.csv",
        f"t.csv, line 3, field 'arrival': cannot be used (found '1,5'); {SECONDS}",
    ),
    (
        PLAIN + "1,-8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'prompt_len': cannot be used (found '-8'); {TOKENS}",
    ),
    (
        PLAIN + "1,8.5,1\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'prompt_len': cannot be used (found '8.5'); {TOKENS}",
    ),
    (
        PLAIN + "1,8,2147483648\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'output_len': cannot be used (found '2147483648'); {TOKENS}",
    ),
    (
        PLAIN + "1,8,many\n",
        "csv:path=t.csv",
        f"t.csv, line 3, field 'output_len': cannot be used (found 'many'); {TOKENS}",
    ),
    (
        HEADER + "\n1700158623979,8,1\n",
        "csv:path=t.csv",
        "t.csv, line 2, field 'arrival': cannot be used (found '1700158623979'); "
        f"{SECONDS}; say unit=ms (then it is 2023-11-16 18:17:03), unit=us or unit=ns",
    ),
    (
        HEADER + "\n16/11/2023 18:17:03,8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 2, field 'arrival': cannot be used (found '16/11/2023 18:17:03'); {SECONDS}",
    ),
    (
        HEADER + "\n2023-11-16T18:17:03Z,8,1\n2023-11-16T18:17:04,8,1\n",
        "csv:path=t.csv",
        "t.csv, line 3, field 'arrival': read as dates without a zone, taken as UTC "
        "(found '2023-11-16T18:17:04'); expected dates, as before",
    ),
    (
        HEADER + "\n2023-13-16T18:17:03Z,8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 2, field 'arrival': cannot be used (found '2023-13-16T18:17:03Z'); {SECONDS}",
    ),
    (
        PLAIN,
        "csv:path=t.csv:unit=min",
        "workload 'csv': parameter 'unit' does not fit (found 'min'); expected s or ms or us or ns",
    ),
    (
        PLAIN,
        "csv:path=t.csv:sep=::",
        "workload 'csv': parameter 'sep': no separator (found '::'); expected one "
        "character, such as ;, or tab",
    ),
    (
        PLAIN,
        "csv:path=t.csv:arrival=arival",
        "t.csv, line 1: unknown column 'arival'; did you mean 'arrival'? (known: "
        "arrival, output_len, prompt_len)",
    ),
    (
        "when,prompt_len,output_len\n0,8,1\n",
        "csv:path=t.csv",
        "t.csv, line 1, field 'arrival': no such column (found 'when, prompt_len, "
        "output_len'); expected arrival=COLUMN, the one that holds it",
    ),
    (
        "arival,prompt_len,output_len\n0,8,1\n",
        "csv:path=t.csv",
        f"t.csv, line 1: unknown column 'arival'; did you mean 'arrival'? {FIELDS}",
    ),
    (
        HEADER + ",prioritty\n0,8,1,1\n",
        "trace:path=t.csv",
        f"t.csv, line 1: unknown column 'prioritty'; did you mean 'priority'? {FIELDS}",
    ),
    (
        HEADER + ",priority\n0,8,1,high\n",
        "trace:path=t.csv",
        "t.csv, line 2, field 'priority': cannot be used (found 'high'); expected an "
        "integer from -2147483648 to 2147483647",
    ),
    (
        HEADER + ",id\n0,8,1,a\n1,8,1,a\n",
        "csv:path=t.csv",
        "t.csv, line 3, field 'id': cannot be used (found 'a'); expected an id of its "
        "own: line 2 has this one",
    ),
    (
        HEADER + ",id\n0,8,1,a\n1,8,1,\n",
        "csv:path=t.csv",
        "t.csv, line 3, field 'id': missing (found ''); expected an id in every row, or in none",
    ),
    (
        HEADER + ",prefix_group,prefix_len\n0,8,1,s,9\n",
        "csv:path=t.csv",
        "t.csv, line 2, field 'prefix_len': cannot be used (found '9'); expected at "
        "most prompt_len = 8",
    ),
    (
        HEADER + ",ends_by\n0,8,1,eos\n",
        "csv:path=t.csv",
        "t.csv, line 2, field 'ends_by': cannot be used (found 'eos'); expected max_tokens or stop",
    ),
    (
        HEADER + ",turn\n0,8,1,2\n",
        "csv:path=t.csv",
        "t.csv, line 2, field 'session': missing; expected the session that it is a turn of",
    ),
    (
        "when,how_long\n0,8\n",
        "trace:path=t.csv:limit=3",
        "t.csv, line 1: no format that can be told for sure (found 'when, how_long'); "
        "expected azure: TIMESTAMP, ContextTokens, GeneratedTokens; or burstgpt: "
        "Timestamp, Request tokens, Response tokens; or vidur: arrived_at, "
        "num_prefill_tokens, num_decode_tokens; or csv: arrival, prompt_len, "
        "output_len; or "
        "csv:path=FILE:arrival=COLUMN:prompt_len=COLUMN:output_len=COLUMN",
    ),
    (
        PLAIN,
        "azure:path=t.csv",
        "t.csv, line 1, field 'TIMESTAMP': not in the azure format; it looks like csv "
        "(found 'arrival, prompt_len, output_len'); expected a CSV header with "
        "TIMESTAMP, ContextTokens, GeneratedTokens",
    ),
    (
        AZURE + "1700158,8,1\n",
        "azure:path=t.csv",
        "t.csv, line 2, field 'TIMESTAMP': cannot be used (found '1700158'); expected "
        "YYYY-MM-DD HH:MM:SS[.fraction][+00:00]",
    ),
    (
        PLAIN,
        "csv:path=t.csv:window=9..3",
        "workload 'csv': parameter 'window': not a window (found '9..3'); expected "
        "FROM..TO in seconds, such as 0..600 or 600..inf",
    ),
    (
        PLAIN,
        "csv:path=t.csv:window=9..12",
        "t.csv: no usable request in 1 rows (1 outside the window)",
    ),
    (
        PLAIN,
        "csv:path=t.csv:limit=0",
        "workload 'csv': field 'limit': out of range (found 0); expected an integer "
        "from 1 to 2147483647",
    ),
    (
        PLAIN,
        "csv:path=t.csv:time_scale=fast",
        "workload 'csv': parameter 'time_scale' does not fit (found 'fast'); expected a number",
    ),
    (
        PLAIN,
        "csv:path=t.csv:limt=3",
        "workload 'csv': unknown parameter 'limt'; did you mean 'limit'? (known: "
        "abort, arrival, deadline, e2el_slo, ends_by, id, limit, output_len, path, "
        "prefix_group, prefix_len, priority, prompt_len, sep, session, tenant, "
        "think_time, time_scale, tpot_slo, ttft_slo, turn, unit, weight, window)",
    ),
    (
        PLAIN,
        "csv:t.csv",
        "field 'workload': not a parameter (found 't.csv'); expected key=value, each key once",
    ),
    (PLAIN, "csv", "workload 'csv': parameter 'path' is missing; expected path=VALUE"),
    (PLAIN, "cvs:path=t.csv", "unknown workload 'cvs'; did you mean 'csv'? (known: "),
    (PLAIN, "t.csv", "a file, and no workload (found 't.csv'); expected trace:path=t.csv"),
    (
        PLAIN,
        "csv:path=t.csv:path=t.csv",
        "field 'workload': parameter 'path' given twice (found 'path=t.csv'); expected "
        "key=value, each key once",
    ),
    (PLAIN, "trace:name=azure", "workload 'trace': unknown trace 'azure' (known: example-azure)"),
    (
        '{"arrival": 0, "prompt_len": 8, "output_len": 1\n',
        "jsonl:path=t.csv",
        f"t.csv, line 1: is not JSON: Expecting ',' delimiter; {ONE_A_LINE}",
    ),
    (
        '{"arrival": 0, "prompt_len": 8, "output_len": 1}\n[1]\n',
        "jsonl:path=t.csv",
        f"t.csv, line 2: is no JSON object; {ONE_A_LINE}",
    ),
    (
        '{"arrival": "0", "prompt_len": 8, "output_len": 1}\n',
        "jsonl:path=t.csv",
        f"t.csv, line 1, field 'arrival': cannot be used (found '0'); {SECONDS}",
    ),
    (
        '{"arrival": 0, "prompt_len": 8, "output_len": 1, "prompt_len": 9}\n',
        "jsonl:path=t.csv",
        f"t.csv, line 1: is not JSON: key 'prompt_len' given twice; {ONE_A_LINE}",
    ),
    (
        '{"arrival": NaN, "prompt_len": 8, "output_len": 1}\n',
        "jsonl:path=t.csv",
        f"t.csv, line 1, field 'arrival': cannot be used (found nan); {SECONDS}",
    ),
    ("[]", "trace:path=t.csv", "t.csv: the list is empty"),
    ("[1, 2]", "trace:path=t.csv", "t.csv[0]: is no JSON object (found '1')"),
    (
        MOONCAKE + '{"timestamp": 1, "input_length": 700, "output_length": 5, "hash_ids": [0]}\n',
        "mooncake:path=t.csv",
        "t.csv, line 2, field 'hash_ids': cannot be used (found 'a list of 1'); "
        "expected 2 ids: input_length 700 in blocks of hash_block_size=512",
    ),
    (
        MOONCAKE
        + '{"timestamp": 1, "input_length": 700, "output_length": 5, "hash_ids": ["a", "b"]}\n',
        "mooncake:path=t.csv",
        "t.csv, line 2, field 'hash_ids': cannot be used (found 'a list of 2'); "
        "expected a list of integers",
    ),
    (
        '{"session_id": "s", "input_length": 9, "output_length": 5}\n',
        "trace:path=t.csv",
        "t.csv, line 1, field 'timestamp': missing; expected milliseconds from 0 to 9000000000000",
    ),
    (
        '{"prompt": "Hello", "output_tokens": 5}\n',
        "trace:path=t.csv",
        "t.csv, line 1: no format that can be told for sure; it looks like vLLM's "
        "custom data set: it holds texts without lengths or arrivals (found 'prompt, "
        f"output_tokens'); {LISTED}",
    ),
    (
        '{"benchmarks": [{}, {}]}',
        "guidellm:path=t.csv",
        "t.csv, field 'benchmark': 2 benchmarks; expected one of them, from 0 to 1: benchmark=0",
    ),
    (
        '[{"conversations": []}]',
        "sharegpt:path=t.csv:request_rate=1",
        "t.csv: no usable request in 1 rows (1 no answer)",
    ),
    (
        '[{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]',
        "trace:path=t.csv",
        "t.csv, field 'request_rate': it holds no arrivals; expected requests a "
        "second: sharegpt:path=FILE:request_rate=5",
    ),
    (
        '{"start_times": [1, 2], "input_lens": [3], "output_lens": [4, 5]}',
        "vllm-bench:path=t.csv",
        "t.csv, line 1, field 'input_lens': cannot be used (found 'a list of 1'); "
        "expected as many as in 'start_times', one for each request",
    ),
    (
        '{"timestamp": 0, "requests": [{"prompt_length": 9}]}',
        "aibrix:path=t.csv",
        "t.csv: no usable request in 1 rows (1 no output length)",
    ),
]


@pytest.mark.parametrize(("content", "spec", "message"), CASES)
def test_bad_input_is_one_sentence_on_stderr(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str | bytes | None,
    spec: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / "t.csv").write_bytes(data)
    result = schedfw("workloads", "describe", spec)
    assert (result.exit_code, result.stdout) == (2, "")
    if message.endswith("(known: "):  # of workloads, which may be added
        assert result.stderr.startswith(f"schedfw: error: {message}")
    else:
        assert result.stderr == f"schedfw: error: {message}\n"


def test_many_kinds_are_tried() -> None:
    assert len({message for _, _, message in CASES}) >= 40
