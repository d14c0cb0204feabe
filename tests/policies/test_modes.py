"""recompute, swap, adaptive: what becomes of a victim's memory."""

import pytest
from harness import Served, serve
from priced import Priced

O02 = "R0(32,32,@0) R1(32,32,@0)"  # R1 loses 48 tokens in 3 blocks


def preempting(policy: str, host: int = 8, **prices: object) -> Served:
    hardware = Priced(step=1.0, **prices)  # type: ignore[arg-type]
    return serve(O02, policy, num_gpu_blocks=6, num_cpu_blocks=host, hardware=hardware)


def test_recompute_never_swaps() -> None:
    served = preempting("recompute")
    assert (served.engine.recorder.swap_outs, served.rows["R1"]["recomputed_tokens"]) == (0, 48)


def test_swap_keeps_what_was_computed() -> None:
    served = preempting("swap")
    assert (served.engine.recorder.swap_outs, served.rows["R1"]["recomputed_tokens"]) == (1, 0)


@pytest.mark.parametrize(
    ("copy", "swaps"), [(7.9, 1), (8.0, 0), (8.1, 0)], ids=["cheaper", "a tie", "dearer"]
)
def test_adaptive_compares_copies_both_ways_with_recompute(copy: float, swaps: int) -> None:
    """48 tokens at a second each against 3 blocks out and 3 in."""
    served = preempting("adaptive", swap_out=copy, swap_in=copy)
    assert served.engine.recorder.swap_outs == swaps


def test_adaptive_knows_when_the_host_is_full() -> None:
    served = preempting("adaptive", host=2)
    assert served.engine.recorder.swap_outs == 0
    assert served.finish("R1") == 47.0
