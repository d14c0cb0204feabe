"""Percentiles and statistics against numpy on the expanded data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sched_core.metrics.latency import PERCENTILES, describe, percentiles

PERCENTS = (0, 1, 25, 50, 90, 99, 99.9, 100)
histograms = st.dictionaries(
    st.integers(0, 10**12), st.integers(1, 50), min_size=1, max_size=30
).map(lambda found: tuple(np.array(column) for column in zip(*sorted(found.items()), strict=True)))


@given(histograms)
def test_weighted_percentiles_are_numpys_of_the_expanded_values(
    histogram: tuple[np.ndarray, np.ndarray],
) -> None:
    values, counts = histogram
    expanded = np.repeat(values, counts)
    assert_array_equal(percentiles(values, counts, PERCENTS), np.percentile(expanded, PERCENTS))


@given(histograms)
def test_percentiles_do_not_fall_and_stay_between_the_extremes(
    histogram: tuple[np.ndarray, np.ndarray],
) -> None:
    found = percentiles(*histogram, PERCENTS).tolist()
    assert found == sorted(found)
    assert (found[0], found[-1]) == (histogram[0][0], histogram[0][-1])


@given(histograms)
def test_one_value_split_over_two_entries_changes_nothing(
    histogram: tuple[np.ndarray, np.ndarray],
) -> None:
    values, counts = histogram
    apart = describe(np.repeat(values, counts), np.ones(counts.sum(), dtype=np.int64))
    assert describe(values, counts) == pytest.approx(apart, rel=1e-12)


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=40))
def test_a_statistic_leaves_out_what_is_not_defined(values: list[float]) -> None:
    with_holes = np.array([*values, np.nan, np.nan])
    found = describe(with_holes)
    assert found["count"] == len(values)
    assert found["mean"] == pytest.approx(np.mean(values) / 1e9, rel=1e-12)
    assert found["max"] == max(values) / 1e9
    assert [found[f"p{q}"] for q in PERCENTILES] == pytest.approx(
        np.percentile(values, PERCENTILES) / 1e9, rel=1e-12
    )


def test_a_statistic_of_nothing_is_none_beside_a_count_of_0() -> None:
    nothing = {"count": 0, "mean": None, "p50": None, "p90": None, "p99": None, "max": None}
    assert describe(np.array([np.nan])) == nothing
    assert describe(np.array([], dtype=np.int64), np.array([], dtype=np.int64)) == nothing
