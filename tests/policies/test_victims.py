"""Victim rules: whom they choose, that a waiting request gets nobody, and that work ends."""

from collections.abc import Callable
from random import Random

import pytest
from harness import serve
from priced import Priced

from sched_core import RequestSpec

RULES = (
    "youngest",
    "oldest",
    "fewest-computed",
    "fewest-remaining",
    "largest-kv",
    "lowest-priority",
    "cost-aware",
)

# At t=7 C lacks a block; A to D have computed 14, 9, 20, 11 tokens in 4, 3, 5, 3 blocks of 4.
FOUR = "A(8,30,@0,9) B(4,30,@1,1) C(16,30,@2,2) D(8,30,@3,0)"
POOL = {"num_gpu_blocks": 15, "block_size": 4}


def first_victims(specs: str | list[RequestSpec], policy: str, **settings: object) -> list[str]:
    lines = serve(specs, policy, **{**POOL, **settings}).lines  # type: ignore[arg-type]
    return next(line["preempted"] for line in lines if line["preempted"])


@pytest.mark.parametrize(
    ("policy", "victim"),
    [
        ("fcfs", "D"),
        ("youngest", "D"),
        ("oldest", "A"),
        ("fewest-computed", "B"),
        ("largest-kv", "C"),
        ("lowest-priority", "A"),
    ],
)
def test_whom_each_rule_takes(policy: str, victim: str) -> None:
    assert first_victims(FOUR, policy) == [victim]


@pytest.mark.parametrize(
    ("outputs", "victim"),
    [((30, 12, 30, 30), "B"), ((30, 12, 10, 30), "C"), ((8, 12, 30, 30), "B")],
    ids=["fewest left", "the beneficiary itself", "the oldest is spared"],
)
def test_fewest_remaining_by_prediction(outputs: tuple[int, ...], victim: str) -> None:
    lengths = zip("ABCD", (8, 4, 16, 8), outputs, strict=True)
    specs = " ".join(f"{name}({p},{o},@{i})" for i, (name, p, o) in enumerate(lengths))
    assert first_victims(specs, "fewest-remaining+predict-oracle") == [victim]


def test_without_a_predictor_fewest_remaining_goes_by_its_own_history() -> None:
    """Nobody has finished, so everyone is predicted alike: the most emitted has least left."""
    assert first_victims(FOUR, "fewest-remaining") == ["B"]


def test_the_oldest_is_spared_where_it_would_be_chosen() -> None:
    """At t=9 A has computed 12 tokens, B 20: the rule alone would take A."""
    two = "A(4,20,@0) B(12,20,@0)"
    assert first_victims(two, "fewest-computed", num_gpu_blocks=8) == ["B"]


@pytest.mark.parametrize(
    ("policy", "victim"),
    [("oldest", "X"), ("fewest-computed", "A"), ("cost-aware", "A"), ("largest-kv", "B")],
)
def test_ties_go_by_arrival_then_submission(policy: str, victim: str) -> None:
    """All grow at once, and A, the last in order, finds no block: it still holds one less."""
    alike = " ".join(f"{name}(8,30,@0)" for name in "XCBA")
    assert first_victims(alike, policy, num_gpu_blocks=11) == [victim]


@pytest.mark.parametrize("policy", RULES)
def test_a_waiting_request_gets_nobody_s_memory(policy: str) -> None:
    served = serve("A(96,20,@0) BIG(128,4,@1,-9)", policy, num_gpu_blocks=10)
    assert served.engine.recorder.preemptions == 0
    assert served.first_scheduled("BIG") == 20.0


@pytest.mark.parametrize("policy", RULES)
def test_two_large_ones_do_not_push_each_other_out_for_ever(policy: str) -> None:
    """Each needs 11 of 12 blocks and computes one a step. Were nobody spared, `largest-kv` and
    `cost-aware` would take the larger one each time, for ever."""
    served = serve(
        "A(40,4,@0) B(40,4,@0)",
        f"{policy}+chunk:size=4",
        num_gpu_blocks=12,
        block_size=4,
        scheduler_reserve_full_isl=False,
        horizon=100.0,
    )
    assert len(served.lines) == 25
    assert {row["state"] for row in served.rows.values()} == {"finished"}


@pytest.mark.parametrize("policy", RULES)
def test_a_crowd_that_never_fits_together_still_ends(policy: str) -> None:
    random = Random(7)
    specs = [
        RequestSpec(f"r{i}", i // 4, random.randint(1, 40), random.randint(1, 40), i % 3)
        for i in range(40)
    ]
    tight = {"num_gpu_blocks": 20, "block_size": 4, "max_num_batched_tokens": 32}
    served = serve(specs, policy, **tight)
    assert {row["state"] for row in served.rows.values()} == {"finished"}
    assert served.engine.recorder.preemptions > 0


# -- cost-aware -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("price", "victim"),
    [(lambda _: 1.0, "C"), (float, "B"), (lambda tokens: 100.0 - tokens, "C")],
    ids=["flat: most blocks", "linear: fullest blocks last", "long ones are cheap"],
)
def test_cost_aware_takes_the_cheapest_block(price: Callable[[int], float], victim: str) -> None:
    hardware = Priced(step=1.0, recompute=price)
    assert first_victims(FOUR, "cost-aware", hardware=hardware) == [victim]


def test_cost_aware_spreads_preemptions_as_the_penalty_rises() -> None:
    specs = "A(8,60,@0) " + " ".join(f"r{i}({4 + 4 * i},40,@{1 + i})" for i in range(5))

    def most_preempted(penalty: int) -> int:
        served = serve(
            specs,
            f"cost-aware:penalty={penalty}",
            hardware=Priced(step=1.0),
            num_gpu_blocks=40,
            block_size=4,
            scheduler_reserve_full_isl=False,
        )
        return max(row["preemptions"] for row in served.rows.values())

    assert most_preempted(0) > most_preempted(10)
