"""BurstGPT: two releases, read by name, and its failed rows."""

import pytest

from sched_core import InputError

from ..conftest import Make, Write

V1 = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
V3 = V1.replace("Model", "Session ID,Elapsed time,Model")
ROWS = (
    "5,ChatGPT,472,18,490,Conversation log\n"
    "45,ChatGPT,0,0,0,Conversation log\n"
    "45,GPT-4,300,0,300,Conversation log\n"
    "45,GPT-4,0,7,7,Conversation log\n"
    "118,GPT-4,417,276,693,API log\n"
)


def test_failed_rows_are_dropped_and_counted_by_reason(write: Write, make: Make) -> None:
    workload = make(f"burstgpt:path={write('b.csv', V1 + ROWS)}")
    assert [(r.arrival, r.prompt_len, r.output_len) for r in workload.requests] == [
        (0.0, 472, 18),
        (113.0, 417, 276),
    ]
    assert workload.dropped == {
        "failed (0 tokens)": 1,
        "no output tokens": 1,
        "no prompt tokens": 1,
    }
    assert workload.description["rows_read"] == 5


def test_api_logs_may_be_left_out(write: Write, make: Make) -> None:
    workload = make(f"burstgpt:api_logs=drop:path={write('b.csv', V1 + ROWS)}")
    assert [r.prompt_len for r in workload.requests] == [472]
    assert workload.dropped["API log"] == 1


def test_release_3_is_read_by_name_not_by_position(write: Write, make: Make) -> None:
    """vLLM 0.33 reads columns 2 and 3: here Elapsed time and Model."""
    path = write(
        "b.csv",
        V3 + "19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n"
        "19440161.0,,2,ChatGPT,36,29,65,API log\n",
    )
    requests = make(f"burstgpt:path={path}").requests
    assert [(r.arrival, r.prompt_len, r.output_len) for r in requests] == [
        (0.0, 906, 446),
        (51.0, 36, 29),
    ]


def test_ties_keep_the_order_of_the_file(write: Write, make: Make) -> None:
    rows = "".join(f"7,ChatGPT,{length},1,0,Conversation log\n" for length in (30, 10, 20))
    requests = make(f"burstgpt:path={write('b.csv', V1 + rows)}").requests
    assert [r.prompt_len for r in requests] == [30, 10, 20]


def test_nothing_left_is_an_error_that_says_what_was_dropped(write: Write, make: Make) -> None:
    path = write("b.csv", V1 + "5,ChatGPT,0,0,0,Conversation log\n" * 3)
    with pytest.raises(InputError, match=r"no usable request in 3 rows \(3 failed"):
        make(f"burstgpt:path={path}")


def test_api_logs_is_keep_or_drop(make: Make) -> None:
    with pytest.raises(InputError, match="api_logs"):
        make("burstgpt:path=x:api_logs=maybe")
