"""chunk and fill-tile: how much of a prompt runs in a step."""

from random import Random

import pytest
from harness import serve

from sched_core import RequestSpec


def test_chunk_caps_every_prompt() -> None:
    served = serve("a(21,2,@0) b(8,2,@0)", "chunk:size=8")
    assert [line["scheduled"] for line in served.lines] == [
        {"a": 8, "b": 8},
        {"a": 8, "b": 1},
        {"a": 5},
        {"a": 1},
    ]


def scheduled(specs: str, **settings: int) -> list[dict[str, int]]:
    served = serve(specs, "fill-tile:tile=8", **{"max_num_batched_tokens": 64, **settings})
    return [line["scheduled"] for line in served.lines]


def test_a_prompt_stops_where_it_would_open_a_tile() -> None:
    """1 decode + 21 would pay for 24 tokens: 15 now fill two tiles, 6 ride along next."""
    steps = scheduled("D(4,9,@0) P(21,3,@1)")
    assert steps[1:4] == [{"D": 1, "P": 15}, {"D": 1, "P": 6}, {"D": 1, "P": 1}]


def test_what_ends_in_a_tile_already_begun_is_not_cut() -> None:
    assert scheduled("D(4,9,@0) P(7,3,@1)")[1] == {"D": 1, "P": 7}
    assert scheduled("D(4,9,@0) P(15,3,@1)")[1] == {"D": 1, "P": 15}


def test_a_chunk_is_never_nothing() -> None:
    """8 decodes fill a tile; the 3 tokens behind them open one, since 0 would starve them."""
    decodes = " ".join(f"d{i}(1,9,@0)" for i in range(8))
    assert scheduled(f"{decodes} P(3,2,@1)")[1]["P"] == 3


def test_alone_a_prompt_is_not_cut() -> None:
    """A second step would cost more than the tile."""
    assert scheduled("P(21,2,@0)")[0] == {"P": 21}
    assert scheduled("P(21,2,@0) Q(9,2,@1)")[0] == {"P": 21}


def test_a_follower_that_fits_fills_the_tile_instead() -> None:
    assert scheduled("D(4,9,@0) P(21,3,@1) Q(90,3,@1)")[1] == {"D": 1, "P": 21, "Q": 42}


@pytest.mark.parametrize("short", [{"num_gpu_blocks": 8}, {"max_num_seqs": 2}])
def test_a_follower_without_memory_or_seat_does_not(short: dict[str, int]) -> None:
    steps = scheduled("D(4,9,@0) P(21,3,@1) Q(100,3,@1)", **short)
    assert steps[1] == {"D": 1, "P": 15}


def test_a_budget_that_is_no_multiple_is_rounded_down() -> None:
    """The last chunk, which the budget does not bind, is alone and so whole."""
    steps = scheduled("P(50,1,@0)", max_num_batched_tokens=20)
    assert steps == [{"P": 16}, {"P": 16}, {"P": 18}]


def test_steps_pay_for_less_padding() -> None:
    random = Random(0)
    specs = [
        RequestSpec(f"r{i}", i * 3.0, random.randint(20, 300), random.randint(5, 60))
        for i in range(60)
    ]

    def computed_and_padded(policy: str) -> tuple[int, int]:
        served = serve(specs, policy, num_gpu_blocks=2000)
        tokens = [sum(line["scheduled"].values()) for line in served.lines]
        return sum(tokens), sum(-n % 8 for n in tokens)

    computed, padded = computed_and_padded("fill-tile:tile=8")
    computed_by_default, padded_by_default = computed_and_padded("fcfs")
    assert computed == computed_by_default
    assert padded < 0.7 * padded_by_default
