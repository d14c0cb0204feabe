"""When a difference is called one."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from sched_core.reports.differences import Difference, differences, interval
from sched_core.reports.figures import figures_of


def summary(ttft: float | None, finished: int = 100) -> dict[str, Any]:
    return {"finished": finished, "ttft": {"mean": ttft}, "priorities": {}, "tenants": {}}


def ttft_mean(first: list[dict[str, Any]], other: list[dict[str, Any]]) -> Difference:
    found = differences({"fcfs": first, "new": other})
    (one,) = [d for d in found if d.figure.path == ("ttft", "mean")]
    assert (one.baseline, one.policy) == ("fcfs", "new")
    return one


BASE = [summary(value) for value in (10.0, 11.0, 12.0, 13.0)]
LOWER = [5.0, 6.5, 6.8, 8.1]
HIGHER = [15.0, 16.5, 16.8, 18.1]


@given(st.lists(st.tuples(*[st.floats(-1e3, 1e3)] * 2), min_size=2, max_size=12))
def test_the_interval_is_that_of_a_paired_t_test(pairs: list[tuple[float, float]]) -> None:
    first, other = zip(*pairs, strict=True)
    deltas = [b - a for a, b in pairs]
    assume(max(deltas) - min(deltas) > 1e-3)
    expected = ttest_rel(other, first).confidence_interval(0.95)
    assert interval(deltas) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-6)


def test_better_and_worse() -> None:
    lower = ttft_mean(BASE, [summary(value) for value in LOWER])
    assert (lower.verdict, lower.pairs) == ("better", 4)
    assert lower.mean == pytest.approx(-4.9)
    assert lower.high is not None
    assert lower.high < 0
    assert ttft_mean(BASE, [summary(value) for value in HIGHER]).verdict == "worse"


def test_nothing_is_better_when_the_interval_holds_0() -> None:
    noisy = ttft_mean(BASE, [summary(value) for value in (2.0, 20.0, 3.0, 14.0)])
    assert noisy.low is not None
    assert noisy.high is not None
    assert noisy.low < 0 < noisy.high
    assert noisy.verdict is None


def test_nothing_is_better_that_finished_fewer_requests() -> None:
    fewer = [
        summary(value, finished) for value, finished in zip(LOWER, (100, 100, 99, 100), strict=True)
    ]
    assert ttft_mean(BASE, fewer).verdict is None
    fewer_and_slower = [summary(value, 99) for value in HIGHER]
    assert ttft_mean(BASE, fewer_and_slower).verdict == "worse"


def test_nothing_is_worse_that_finished_more_requests() -> None:
    assert ttft_mean(BASE, [summary(value, 101) for value in HIGHER]).verdict is None
    assert ttft_mean(BASE, [summary(value, 101) for value in LOWER]).verdict == "better"


def test_equal_differences_give_no_interval() -> None:
    same = ttft_mean(BASE, [summary(value + 1) for value in (10.0, 11.0, 12.0, 13.0)])
    assert (same.mean, same.low, same.high, same.verdict) == (1.0, None, None, None)


def test_seeds_without_the_figure_are_left_out() -> None:
    found = ttft_mean(BASE, [summary(None), *(summary(value) for value in LOWER[1:])])
    assert found.pairs == 3
    nothing = ttft_mean(BASE, [summary(None)] * 4)
    assert (nothing.pairs, nothing.mean, nothing.verdict) == (0, None, None)


def test_groups_are_figures_where_they_are_few() -> None:
    def grouped(names: str) -> dict[str, Any]:
        groups = {name: {"ttft": {"mean": 1.0}} for name in names}
        return summary(1.0) | {"tenants": groups}

    def labels(names: str) -> list[str]:
        return [f.label for f in figures_of([grouped(names)]) if "TTFT mean, tenant" in f.label]

    assert labels("ab") == ["TTFT mean, tenant a", "TTFT mean, tenant b"]
    assert labels("a") == labels("abcdef") == []
