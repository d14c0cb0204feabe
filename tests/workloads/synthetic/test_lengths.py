"""Length distributions: bounds, shapes and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sched_plugins.workloads.synthetic.lengths import MAX_LENGTH, Lengths, Uniform, parse_lengths
from scipy import stats

from sched_core import InputError

LAST = np.nextafter(1.0, 0.0)
"""The largest number that a generator draws from [0, 1)."""

U = np.random.default_rng(5).random(40_000)


def ends(lengths: Lengths) -> list[int]:
    return lengths.quantile(np.array([0.0, LAST])).tolist()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("512", 512, 512),
        ("1", 1, 1),
        ("50..2000", 50, 2000),
        ("7..7", 7, 7),
        ("zipf,1.1,16..4096", 16, 4096),
        ("zipf,0,3..5", 3, 5),
        ("lognormal,600,0.8,16..8192", 16, 8192),
        ("lognormal,600,0.8", 1, MAX_LENGTH),
        ("1..10000000", 1, MAX_LENGTH),
    ],
)
def test_the_extremes_of_u_give_the_bounds(text: str, low: int, high: int) -> None:
    first, last = ends(parse_lengths(text))
    assert first == low
    assert last == high or (text == "lognormal,600,0.8" and 50_000 < last < high)


@given(
    low=st.integers(1, 5000),
    width=st.integers(0, 5000),
    u=st.lists(st.floats(0, float(LAST)), min_size=1),
)
def test_uniform_stays_inside_and_keeps_order(low: int, width: int, u: list[float]) -> None:
    lengths = Uniform(low, low + width).quantile(np.array(sorted(u))).tolist()
    assert low <= lengths[0]
    assert lengths == sorted(lengths)
    assert lengths[-1] <= low + width


def test_uniform_gives_every_value_its_share() -> None:
    counts = np.bincount(parse_lengths("3..7").quantile(U))[3:]
    assert len(counts) == 5
    assert stats.chisquare(counts).pvalue > 1e-3


def test_zipf_follows_its_law() -> None:
    counts = np.bincount(parse_lengths("zipf,1.1,10..29").quantile(U))[10:]
    weights = np.arange(1, 21) ** -1.1
    assert stats.chisquare(counts, len(U) * weights / weights.sum()).pvalue > 1e-3


def test_lognormal_has_the_mean_and_sigma_it_names() -> None:
    lengths = parse_lengths("lognormal,600,0.8").quantile(U)
    assert lengths.mean() == pytest.approx(600, rel=0.02)
    assert np.log(lengths).std() == pytest.approx(0.8, rel=0.02)


def test_truncated_lognormal_is_the_law_given_the_range_without_heaps_at_its_ends() -> None:
    low, high = 595, 605
    counts = np.bincount(parse_lengths("lognormal,600,0.8,595..605").quantile(U))[low:]
    law = stats.lognorm(0.8, scale=600 * np.exp(-(0.8**2) / 2))
    expected = np.diff(law.cdf(np.arange(low, high + 2) - 0.5))
    assert stats.chisquare(counts, len(U) * expected / expected.sum()).pvalue > 1e-3


@pytest.mark.parametrize(
    "text",
    [
        "", "0", "-5", "1.5", "nan", "9..5", "0..5", "1..", "..5", "1..2..3", "1..20000000", "５",
        "uniform", "lognormal", "lognormal,600", "lognormal,0,1", "lognormal,600,0",
        "lognormal,600,-1", "lognormal,nan,1", "lognormal,inf,1", "lognormal,6,1,1..5,2",
        "lognormal,100,0.1,5000..6000", "zipf,1.1", "zipf,-1,1..5", "zipf,x,1..5",
        "zipf,1,0..5", "512,3",
    ],
)  # fmt: skip
def test_anything_else_is_refused_and_named(text: str) -> None:
    with pytest.raises(InputError, match="expected") as caught:
        parse_lengths(text)
    assert repr(text) in str(caught.value) or ".." in text
