"""Results of benchmarks: the requests that their clients sent."""

import json
from typing import Any

import pytest

from sched_core import InputError, Workload

from ..conftest import Make, Write

VLLM: dict[str, Any] = {
    "date": "20261201-120000", "backend": "vllm", "num_prompts": 4, "request_rate": "inf",
    "max_concurrency": None, "duration": 3.5, "completed": 3, "request_throughput": 0.9,
    "input_lens": [9, 8, 7, 6], "output_lens": [2, 3, 4, 0], "ttfts": [0.1, 0.1, 0.1, 0.0],
    "itls": [[], [], [], []], "start_times": [100.5, 101.0, 100.25, 102.0],
    "generated_texts": ["", "", "", ""], "errors": ["", "", "", "timeout"],
}  # fmt: skip


def sent(workload: Workload) -> list[tuple[float, int, int]]:
    return [(r.arrival, r.prompt_len, r.output_len) for r in workload.requests]


def written(write: Write, **changes: Any) -> str:
    return str(write("r.json", json.dumps({**VLLM, **changes})))


def test_vllm_bench_says_when_each_request_was_sent(write: Write, make: Make) -> None:
    workload = make(f"trace:path={written(write)}")
    assert sent(workload) == [(0.0, 7, 4), (0.25, 9, 2), (0.75, 8, 3)]
    assert workload.dropped == {"failed": 1}
    assert workload.description["rows_read"] == 4
    assert "arrivals" not in workload.description


def test_the_wait_for_a_place_is_no_part_of_the_arrival(write: Write, make: Make) -> None:
    path = written(write, max_concurrency=2, queue_times=[0.5, 0.0, 0.0, 0.0])
    workload = make(f"vllm-bench:path={path}")
    assert sent(workload) == [(0.0, 9, 2), (0.25, 7, 4), (1.0, 8, 3)]
    assert workload.description["arrivals"] == "as sent by a client of max_concurrency 2"


def test_an_indented_result_is_the_same(write: Write, make: Make) -> None:
    path = write("r.json", json.dumps(VLLM, indent=2))
    assert sent(make(f"trace:path={path}")) == sent(make(f"trace:path={written(write)}"))


def left_out(*keys: str) -> str:
    return json.dumps({key: value for key, value in VLLM.items() if key not in keys})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            left_out("input_lens", "output_lens", "start_times", "ttfts", "itls", "errors"),
            "a result of vllm bench serve: it holds figures, not requests; --save-detailed adds",
        ),
        (
            left_out("start_times"),
            "it does not say when requests were sent; newer versions",
        ),
        (
            json.dumps({**VLLM, "output_lens": [2]}),
            "field 'output_lens': cannot be used (found 'a l",
        ),
        (json.dumps({**VLLM, "errors": "no"}), "field 'errors': cannot be used (found 'no')"),
        (json.dumps({**VLLM, "input_lens": [9, 8, 7.5, 6]}), "field '[2].input_lens': cannot be"),
        (json.dumps(VLLM) + "\n" + json.dumps(VLLM), "line 2, field 'start_times': a second run"),
    ],
)
def test_a_result_that_lacks_something_is_refused(
    write: Write, make: Make, text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"trace:path={write('r.json', text)}")
    assert message in str(caught.value)


def guidellm(*benchmarks: list[dict[str, Any]]) -> str:
    """A report; further keys of a request, of which there are many, change nothing."""
    listed = [
        {
            "type_": "generative_benchmark",
            "requests": {
                "successful": requests,
                "errored": [{"request_start_time": None, "prompt_tokens": None}],
                "incomplete": [],
                "total": None,
            },
        }
        for requests in benchmarks
    ]
    return json.dumps({"metadata": {"version": 2}, "benchmarks": listed})


def one(start: float, prompt: int, output: int) -> dict[str, Any]:
    return {
        "request_id": "x", "request_start_time": start, "prompt_tokens": prompt,
        "output_tokens": output, "request_latency": 1.0,
    }  # fmt: skip


def test_guidellm_lists_requests_by_how_they_ended(write: Write, make: Make) -> None:
    path = write("b.json", guidellm([one(1700000000.25, 9, 2), one(1700000000.0, 8, 3)]))
    workload = make(f"trace:path={path}")
    assert sent(workload) == [(0.0, 8, 3), (0.25, 9, 2)]
    assert workload.dropped == {"failed": 1}
    assert workload.description["arrivals"] == "as sent by the client"


def test_of_a_sweep_one_benchmark_is_chosen(write: Write, make: Make) -> None:
    path = write("b.json", guidellm([one(5, 9, 2)], [one(7, 4, 1)]))
    assert sent(make(f"guidellm:path={path}:benchmark=1")) == [(0.0, 4, 1)]
    for options in ("", ":benchmark=2"):
        with pytest.raises(InputError, match=r"'benchmark': 2 benchmarks.*from 0 to 1: ben"):
            make(f"guidellm:path={path}{options}")


def aiperf(start: int, prompt: int, output: int, **changes: Any) -> str:
    row = {
        "metadata": {
            "session_num": 45, "conversation_id": "c", "turn_index": 0, "request_start_ns": start,
            "request_end_ns": start + 1, "benchmark_phase": "profiling", "was_cancelled": False,
        },
        "metrics": {
            "input_sequence_length": {"value": prompt, "unit": "tokens"},
            "output_sequence_length": {"value": output, "unit": "tokens"},
            "request_latency": {"value": 297.5, "unit": "ms"},
        },
        "error": None,
    }  # fmt: skip
    return json.dumps({**row, **changes}) + "\n"


def test_aiperf_exports_a_record_for_each_request(write: Write, make: Make) -> None:
    failed = aiperf(9, 1, 1, metrics={"error_isl": {"value": 550}}, error={"code": 499})
    warm = aiperf(1, 1, 1).replace('"profiling"', '"warmup"')
    first, second = aiperf(1759813207532900363, 550, 9), aiperf(1759813207532900464, 7, 1)
    workload = make(f"trace:path={write('p.jsonl', warm + first + second + failed)}")
    assert sent(workload) == [(0.0, 550, 9), (1.01e-7, 7, 1)]
    assert workload.dropped == {"warm-up": 1, "failed": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (aiperf(1, 1, 1, metadata={}), "field 'metadata.request_start_ns': missing"),
        (aiperf(1, 1, 1, metrics=None), "field 'metrics': missing; expected an object"),
        (
            aiperf(1, 1, 1, metrics={"input_sequence_length": {"value": 9}}),
            "field 'metrics.output_sequence_length': missing",
        ),
        (
            '{"request_throughput": {"avg": 9}, "input_sequence_length": {"avg": 9}}',
            "AIPerf's summary: it holds figures, not requests; profile_export.jsonl holds them",
        ),
    ],
)
def test_an_export_that_lacks_something_is_refused(
    write: Write, make: Make, text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"trace:path={write('p.jsonl', text)}")
    assert message in str(caught.value)
