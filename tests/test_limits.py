"""What is too large, or of another type, is refused by the class that is given it."""

from typing import Any

import numpy as np
import pytest

from sched_core import (
    EngineConfig,
    HashedPrefix,
    InputError,
    RequestSpec,
    Scenario,
    SharedPrefix,
    Workload,
    simulate,
)
from sched_core.limits import MAX_COUNT, MAX_SECONDS
from sched_core.memory.block_pool import BlockPool

SPEC: dict[str, Any] = {"id": "R1", "arrival": 0.0, "prompt_len": 40, "output_len": 4}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("arrival", 9.1e9, "out of range"),
        ("arrival", 1e300, "out of range"),
        ("arrival", float("nan"), "out of range"),
        ("arrival", "0", "does not fit"),
        ("arrival", None, "missing"),
        ("abort", -1.0, "out of range"),
        ("abort", "never", "does not fit"),
        ("prompt_len", 10**22, "out of range"),
        ("prompt_len", 10.5, "out of range"),
        ("prompt_len", -1, "out of range"),
        ("prompt_len", np.int64(-1), "out of range"),
        ("output_len", 2**31, "out of range"),
        ("output_len", "4", "does not fit"),
        ("priority", 10**20, "out of range"),
        ("priority", -(2**31) - 1, "out of range"),
        ("priority", 0.5, "out of range"),
        ("id", 7, "does not fit"),
        ("tenant", None, "missing"),
        ("prefix", (1, 2), "does not fit"),
    ],
)
def test_a_request_that_cannot_be_is_refused(field: str, value: object, problem: str) -> None:
    with pytest.raises(InputError, match=rf"request .*field '{field}': {problem}.*; expected "):
        RequestSpec(**{**SPEC, field: value})


def test_the_largest_request_that_can_be() -> None:
    largest = {"prompt_len": MAX_COUNT, "output_len": MAX_COUNT, "abort": MAX_SECONDS}
    spec = RequestSpec("R1", MAX_SECONDS, priority=-MAX_COUNT - 1, **largest)  # type: ignore[arg-type]
    assert spec.arrival == MAX_SECONDS


def test_a_prefix_fits_the_prompt() -> None:
    RequestSpec(**SPEC, prefix=HashedPrefix((1, 2, 3), 16))
    with pytest.raises(InputError, match="'R1', field 'hash_ids': 1 ids; expected 3: "):
        RequestSpec(**SPEC, prefix=HashedPrefix((1,), 16))
    with pytest.raises(InputError, match=r"'block_size': out of range .found 0"):
        HashedPrefix((1,), 0)
    with pytest.raises(InputError, match=r"'ids': does not fit .*a tuple of integers"):
        HashedPrefix((1.5,), 16)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'group': .*a name or an integer"):
        SharedPrefix(1.5, 16)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'len': out of range .found -1"):
        SharedPrefix("a", -1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("block_size", 2.5),
        ("max_num_batched_tokens", "8"),
        ("max_num_batched_tokens", None),
        ("max_num_seqs", True),
        ("num_gpu_blocks", 10**10),
        ("num_cpu_blocks", -1),
        ("watermark", "0.5"),
        ("gpu_memory_utilization", float("nan")),
        ("enable_prefix_caching", "false"),
        ("scheduler_reserve_full_isl", 0),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"field '{field}': .*; expected "):
        EngineConfig(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("policy", ""),
        ("policy", None),
        ("hardware", " "),
        ("model", ""),
        ("workload", ""),
        ("workload", 5),
        ("config", {"block_size": 16}),
        ("seed", -1),
        ("seed", 0.5),
        ("horizon", 1e300),
        ("horizon", 0),
        ("horizon", "60"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"field '{field}': .*; expected "):
        Scenario(**{field: value})  # type: ignore[arg-type]


def test_a_pool_costs_what_is_taken_of_it() -> None:
    pool = BlockPool(MAX_COUNT)
    assert (pool.take_one(), pool.take(3), pool.num_free) == (1, [2, 3, 4], MAX_COUNT - 4)
    pool.give_back([2, 3])
    assert (pool.take_one(), pool.take(3)) == (3, [2, 5, 6])


def test_an_unused_block_comes_before_one_with_content() -> None:
    pool = BlockPool(4)
    first, _ = pool.take(2)
    pool.register(first, "content")
    pool.give_back([first])
    assert pool.free_order() == [3, 4, first]
    assert pool.take(3) == [3, 4, first]


def test_the_largest_pools_and_many_slots_take_no_memory() -> None:
    scenario = Scenario(
        workload=Workload([RequestSpec(**SPEC)], max_concurrency=10**15),
        hardware="constant",
        config=EngineConfig(num_gpu_blocks=MAX_COUNT, num_cpu_blocks=MAX_COUNT),
    )
    assert simulate(scenario).results[0].summary["finished"] == 1
