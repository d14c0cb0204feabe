"""The parts of the executor by themselves: pool, batch, sampling, prompts."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hwmodels.torch_executor.prompts.prompts import SyntheticPrompts
from hwmodels.torch_executor.step.packing import pack
from hwmodels.torch_executor.step.pool import KVPool, LayerShape, _runs
from hwmodels.torch_executor.step.sampling import sample
from sched_core import HashedPrefix, RequestSpec, ScheduledRequest, SharedPrefix, Swap

CPU = torch.device("cpu")


def small_pool(fill: float = 0.0) -> KVPool:
    return KVPool([LayerShape(2, 3, 5)] * 2, 4, torch.float64, CPU, fill=fill)


def test_the_pool_grows_and_keeps_what_it_holds() -> None:
    pool = small_pool(fill=math.nan)
    pool.reserve(3, 0)
    rows = torch.ones(1, 2, 3).double(), torch.full((1, 2, 5), 2.0).double()
    pool.write(1, torch.tensor([7]), *rows)
    pool.reserve(40, 9)
    keys, values = pool.layer(1)
    assert (keys.shape, values.shape) == ((41 * 4, 2, 3), (41 * 4, 2, 5))
    assert keys[7].eq(1).all()
    assert values[7].eq(2).all()
    assert keys[:4].eq(0).all(), "block 0 is padding"
    assert keys[8:].isnan().all()
    assert len(pool.host[0]) == 10


def test_on_cuda_it_takes_what_is_expected_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory, and graphs that hold its addresses, stay where they are."""
    pool = small_pool()
    monkeypatch.setattr(pool, "_cuda", True)
    pool.expected = (40, 0)
    for highest in (3, 17, 40):
        pool.reserve(highest, 0)
    assert (len(pool.device[0]), pool.moves) == (41, 1)


def test_blocks_that_follow_one_another_are_copied_together() -> None:
    assert list(_runs((4, 5, 6, 9, 10, 2), (1, 2, 3, 4, 6, 7))) == [
        (4, 1, 3), (9, 4, 1), (10, 6, 1), (2, 7, 1)
    ]  # fmt: skip
    assert list(_runs((), ())) == []


def test_swapped_blocks_come_back_byte_for_byte() -> None:
    pool = small_pool()
    pool.reserve(6, 4)
    for tensor in pool.device:
        tensor.copy_(torch.randn(tensor.shape, generator=torch.Generator().manual_seed(1)))
    before = [tensor[[1, 5]].clone() for tensor in pool.device]
    pool.swap_out([Swap("r", (1, 5), (4, 2))])
    pool.poison([1, 5])
    pool.swap_in([Swap("r", (4, 2), (3, 6))])
    for tensor, old in zip(pool.device, before, strict=True):
        assert torch.equal(tensor[[3, 6]], old)


def test_a_batch_is_laid_out_decodes_first() -> None:
    known = {"chunk": list(range(100, 110)), "a": [1, 2, 3], "b": list(range(20, 27))}
    shares = [
        ScheduledRequest("chunk", 5, 4, (9, 2, 5), samples=False),
        ScheduledRequest("a", 1, 2, (3,), samples=True),
        ScheduledRequest("b", 1, 6, (1, 4), samples=True),
    ]
    batch = pack(shares, known, 4, CPU)
    assert batch.tokens.tolist() == [[3, 26, 104, 105, 106, 107, 108]]
    assert batch.positions.tolist() == [[2, 6, 4, 5, 6, 7, 8]]
    assert batch.slots.tolist() == [14, 18, 8, 9, 10, 11, 20]
    assert batch.last.tolist() == [0, 1]
    assert [share.id for share in batch.sampled] == ["a", "b"]
    decodes, chunk = batch.groups
    assert decodes.context.tolist() == [[12, 13, 14, 0, 0, 0, 0], [4, 5, 6, 7, 16, 17, 18]]
    assert (decodes.start, chunk.start, chunk.context.shape) == (0, 2, (1, 9))


def test_a_query_sees_its_window_and_nothing_later() -> None:
    shares = [ScheduledRequest("r", 3, 2, (1, 2), samples=True)]
    (group,) = pack(shares, {"r": [0] * 5}, 4, CPU).groups
    seen = group.bias(2, 1, torch.float32).isfinite()[0, 0]
    assert seen.tolist() == [[False, True, True, False, False],
                             [False, False, True, True, False],
                             [False, False, False, True, True]]  # fmt: skip


def test_draws_follow_the_distribution_and_the_seed() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.0, 0.2]])).expand(4000, -1)
    shares = [ScheduledRequest(f"r{n}", 1, n, (), samples=True) for n in range(4000)]
    drawn = sample(logits, shares, 1.0, seed=3)
    assert np.bincount(drawn, minlength=4) / 4000 == pytest.approx([0.5, 0.3, 0, 0.2], abs=0.03)
    assert torch.equal(drawn[7:8], sample(logits[:1], shares[7:8], 1.0, seed=3))
    assert not torch.equal(drawn, sample(logits, shares, 1.0, seed=4))
    assert sample(logits[:1], shares[:1], 0.0, seed=3).tolist() == [0]


@given(st.integers(0, 60), st.integers(1, 60), st.integers(1, 60))
def test_shared_prefixes_are_equal_and_the_rest_is_not(shared: int, one: int, other: int) -> None:
    prompts = SyntheticPrompts(7, 50_000)
    a = prompts(RequestSpec("a", 0, one, 1, prefix=SharedPrefix("g", shared)))
    b = prompts(RequestSpec("b", 0, other, 1, prefix=SharedPrefix("g", shared)))
    both = min(shared, one, other)
    assert (len(a), len(b)) == (one, other)
    assert a[:both] == b[:both]
    assert a == prompts(RequestSpec("a", 5, one, 9, prefix=SharedPrefix("g", shared)))
    if min(one, other) - shared > 2:
        assert a[shared:] != b[shared:]


def test_hashed_blocks_are_equal_where_their_ids_are() -> None:
    prompts = SyntheticPrompts(7, 50_000)
    a = prompts(RequestSpec("a", 0, 20, 1, prefix=HashedPrefix((4, 5, 6), 8)))
    b = prompts(RequestSpec("b", 0, 24, 1, prefix=HashedPrefix((4, 5, 9), 8)))
    assert a[:16] == b[:16]
    assert a[16:] != b[16:20]
    assert len(b) == 24
