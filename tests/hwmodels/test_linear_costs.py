"""The linear price: fitted to measured steps, never cheaper for more work."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwmodels.measured.linear_costs import FITTED, LinearCosts, features, fit, relative_errors
from sched_core import InputError, StepLoad

TRUE = LinearCosts(
    c0=2e-3,
    several=4e-4,
    token=3e-5,
    request=4e-5,
    kv=2e-7,
    chunk=1e-4,
    pair=8e-9,
    sampled=5e-5,
    head=7e-4,
)

counts = st.integers(0, 50)


@st.composite
def loads(draw: st.DrawFn) -> StepLoad:
    """Loads that a step can have, of at least one token."""
    decodes, prefills = draw(counts), draw(st.integers(0, 4))
    tokens = prefills * draw(st.integers(1, 300))
    context = prefills * draw(st.integers(0, 500))
    return StepLoad(
        decodes=decodes + (prefills == 0),
        decode_kv_tokens=(decodes + 1) * draw(st.integers(1, 900)),
        prefills=prefills,
        prefill_tokens=tokens,
        prefill_kv_tokens=context + tokens,
        prefill_pairs=tokens * (context + 1),
        sampled=decodes,
        blocks_out=draw(counts),
        blocks_in=draw(counts),
    )


def varied(count: int) -> list[StepLoad]:
    """Loads of which no sum is a multiple of another."""
    return [
        StepLoad(i % 7 + 1, i * 53 % 811 + 9, i % 3, (i % 3) * (i * 17 % 91 + 2),
                 (i % 3) * (i * 29 % 307 + 95), (i % 3) * (i * 31 % 5003 + 100), i % 5)
        for i in range(count)
    ]  # fmt: skip


def test_a_fit_finds_the_constants_that_made_the_times() -> None:
    seconds = [TRUE.step(load) for load in varied(80)]
    found = fit(varied(80), seconds)
    for name in FITTED:
        assert getattr(found, name) == pytest.approx(getattr(TRUE, name), rel=2e-3), name
    assert abs(relative_errors(found, varied(80), seconds)).max() < 1e-3


def test_what_no_step_tells_apart_is_part_of_the_constant() -> None:
    """Without steps of one token, or that sample nobody: those must not come out for nothing."""
    loads = [load for load in varied(80) if load.new_tokens > 1 and load.sampled]
    found = fit(loads, [TRUE.step(load) for load in loads])
    assert (found.several, found.head) == (0, 0)
    assert found.c0 == pytest.approx(TRUE.c0 + TRUE.several + TRUE.head, rel=2e-3)


def test_a_fit_weighs_relative_errors() -> None:
    """A short step that is 10 % off counts as much as a long one that is."""
    found = fit([StepLoad(1, 1), StepLoad(1, 1)], [1.0, 3.0])
    assert found.step(StepLoad(1, 1)) == pytest.approx(1.2)  # (1 + 1/3) / (1 + 1/9)


@given(loads())
def test_a_step_is_the_sum_of_its_features(load: StepLoad) -> None:
    """In their order, to the last bit: a fit finds the constants that `step` multiplies."""
    costs = attrs.evolve(TRUE, block_out=1e-5, block_in=2e-5)
    seconds = 0.0
    for name, count in zip(FITTED, features(load), strict=True):
        seconds += getattr(costs, name) * count
    assert costs.step(load) == 1e-5 * load.blocks_out + 2e-5 * load.blocks_in + seconds


@given(loads(), st.sampled_from(StepLoad._fields))
def test_more_work_is_never_cheaper(load: StepLoad, field: str) -> None:
    costs = attrs.evolve(TRUE, block_out=1e-5, block_in=2e-5)
    more = load._replace(**{field: getattr(load, field) + 1})
    assert 0 < costs.step(load) <= costs.step(more)


def test_copies_and_recomputes_are_priced_apart() -> None:
    costs = attrs.evolve(TRUE, block_out=1e-5, block_in=2e-5)
    busy = StepLoad(4, 400, sampled=4)
    assert costs.step(StepLoad(blocks_out=3, blocks_in=2)) == pytest.approx(7e-5)
    assert costs.swap_out(3, busy) + costs.swap_in(2, busy) == pytest.approx(7e-5)
    chunk = busy._replace(
        prefills=1, prefill_tokens=10, prefill_kv_tokens=10, prefill_pairs=55
    )  # fmt: skip
    assert costs.recompute(10, busy) == pytest.approx(costs.step(chunk) - costs.step(busy))


def test_every_feature_has_a_constant() -> None:
    assert len(features(StepLoad(1, 1))) == len(FITTED)


def test_a_constant_below_0_is_refused() -> None:
    with pytest.raises(InputError, match="'kv'"):
        LinearCosts(kv=-1e-9)
