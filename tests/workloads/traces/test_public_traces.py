"""The public files, read whole, against what their README says of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sched_core import HashedPrefix, InputError, Workload

from ..conftest import Make

Load = Callable[..., Workload]


@pytest.fixture
def load(shared: Path, make: Make) -> Load:
    """load(reader, name, options) -> workload of one public file."""

    def load_file(reader: str, name: str, options: str = "") -> Workload:
        return make(f"{reader}:path={shared / 'data' / name}{options}")

    return load_file


@pytest.mark.parametrize("reader", ["own", "trace"])
@pytest.mark.parametrize(
    ("own", "name", "rows", "dropped"),
    [
        ("azure", "azure2023/AzureLLMInferenceTrace_code.first30min.csv", 5740, {}),
        ("azure", "azure2023/AzureLLMInferenceTrace_conv.first30min.csv", 10101, {}),
        ("burstgpt", "burstgpt/BurstGPT_1.rows1-200.csv", 200, {"failed (0 tokens)": 9}),
        ("burstgpt", "burstgpt/BurstGPT_3.rows1-30.csv", 30, {}),
        ("mooncake", "mooncake/conversation_trace.first600s.jsonl", 1750, {}),
        ("mooncake", "mooncake/synthetic_trace.first400.jsonl", 400, {}),
        ("vidur", "vidur/splitwise_conv.first600s.csv", 2867, {}),
    ],
)
def test_rows_read_and_dropped(
    load: Load, reader: str, own: str, name: str, rows: int, dropped: dict[str, int]
) -> None:  # fmt: skip
    workload = load(own if reader == "own" else reader, name)
    assert workload.description["rows_read"] == rows
    assert workload.dropped == dropped
    assert len(workload.requests) == rows - sum(dropped.values())
    arrivals = [request.arrival for request in workload.requests]
    assert arrivals[0] == 0.0
    assert arrivals == sorted(arrivals)
    assert all(request.prompt_len > 0 for request in workload.requests)


def test_azures_own_replay_in_vidur_has_the_same_arrivals_and_lengths(load: Load) -> None:
    """Vidur's file was made from Azure's, in whole microseconds: two readers must agree."""
    vidur = load("vidur", "vidur/splitwise_conv.first600s.csv").requests
    name = "azure2023/AzureLLMInferenceTrace_conv.first30min.csv"
    azure = load("azure", name, f":limit={len(vidur)}").requests
    assert [(r.arrival, r.prompt_len, r.output_len) for r in azure] == [
        (r.arrival, r.prompt_len, r.output_len) for r in vidur
    ]


def test_burstgpt_3_has_lengths_that_add_up_to_its_total_column(load: Load) -> None:
    requests = load("burstgpt", "burstgpt/BurstGPT_3.rows1-30.csv").requests
    assert (requests[0].prompt_len, requests[0].output_len) == (906, 446)
    assert requests[-1].arrival == 19443878 - 19440110


def test_two_api_rows_in_the_first_200_of_burstgpt(load: Load) -> None:
    workload = load("burstgpt", "burstgpt/BurstGPT_1.rows1-200.csv", ":api_logs=drop")
    assert workload.dropped["API log"] == 2


def test_the_conversation_trace_is_batched_until_it_is_spread(load: Load) -> None:
    name = "mooncake/conversation_trace.first600s.jsonl"
    batched = load("mooncake", name).requests
    assert isinstance(batched[0].prefix, HashedPrefix)
    assert [request.arrival for request in batched[:10]] == [0.0] * 10
    stamps = {request.arrival for request in batched}
    spread = {request.arrival for request in load("mooncake", name, ":spread=3").requests}
    assert len(stamps) < 250 < 1600 < len(spread)


def test_vllms_default_block_size_is_refused_for_mooncake(load: Load) -> None:
    with pytest.raises(InputError, match="hash_block_size=16"):
        load("mooncake", "mooncake/conversation_trace.first600s.jsonl", ":hash_block_size=16")


def test_aiperfs_samples(load: Load) -> None:
    requests = load("mooncake", "aiperf/precise_schedule.jsonl").requests
    assert [request.arrival for request in requests[:3]] == [0.0, 0.5, 0.75]
    with pytest.raises(InputError, match="hash_ids"):
        load("mooncake", "aiperf/production_trace.jsonl")
