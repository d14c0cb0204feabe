"""Figures per tenant and priority."""

from typing import Any

import pytest
from harness import serve
from hypothesis import given
from hypothesis import strategies as st

from sched_core import RequestSpec
from sched_core.metrics.fairness import jain
from sched_core.metrics.summary import summarize


def figures(*specs: RequestSpec, **settings: Any) -> dict[str, Any]:
    engine = serve(specs, **settings).engine
    return summarize(engine.recorder, num_blocks=engine.state.kv.num_blocks)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=20))
def test_jain_lies_between_1_over_n_and_1(values: list[float]) -> None:
    found = jain(values)
    assert found is not None
    assert 1 / len(values) <= found * (1 + 1e-9)
    assert found <= 1.0


@pytest.mark.parametrize(
    ("values", "expected"),
    [([3.0, 3.0, 3.0], 1.0), ([0.0, 0.0], 1.0), ([1.0, 0.0, 0.0, 0.0], 0.25), ([1.0, 3.0], 0.8)],
)
def test_jain_by_hand(values: list[float], expected: float) -> None:
    assert jain(values) == expected


def test_speed_is_output_tokens_per_second_in_the_system() -> None:
    served_first = RequestSpec("R0", 0.0, 16, 4, priority=0, tenant="z")
    waits = RequestSpec("R1", 0.0, 16, 4, priority=7, tenant="a")
    found = figures(served_first, waits, max_num_seqs=1)
    assert list(found["tenants"]) == ["a", "z"]
    assert found["tenants"]["z"]["speed"] == 4 / 4
    assert found["tenants"]["a"]["speed"] == 4 / 8
    assert found["tenant_speeds"] == {"jain": 1.5**2 / (2 * 1.25), "max_over_min": 2.0}
    assert found["priorities"]["7"]["ttft"]["mean"] == 5.0
    assert found["priorities"]["0"] == found["tenants"]["z"]


def test_waiting_for_ever_lowers_a_tenants_speed() -> None:
    served = RequestSpec("R0", 0.0, 16, 100, tenant="a")
    waits = RequestSpec("R1", 0.0, 16, 4, tenant="b")
    found = figures(served, waits, max_num_seqs=1, horizon=10.0)
    assert (found["tenants"]["a"]["speed"], found["tenants"]["b"]["speed"]) == (1.0, 0.0)
    assert found["tenants"]["b"]["ttft"]["count"] == 0
    assert found["tenant_speeds"] == {"jain": 0.5, "max_over_min": None}


def test_a_tenant_that_was_only_refused_is_not_in_the_comparison() -> None:
    served = RequestSpec("R0", 0.0, 16, 4, tenant="a")
    refused = RequestSpec("R1", 0.0, 0, 4, tenant="b")
    found = figures(served, refused)
    assert found["tenants"]["b"]["speed"] is None
    assert found["tenant_speeds"] == {"jain": None, "max_over_min": None}
