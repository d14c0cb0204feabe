"""Tenants and priorities: names with weights."""

import numpy as np
import pytest
from sched_plugins.workloads.synthetic.shares import Shares, parse_priorities, parse_tenants

from sched_core import InputError


def test_a_number_is_so_many_equal_tenants() -> None:
    assert parse_tenants("3") == Shares(("t0", "t1", "t2"), (1.0, 1.0, 1.0))


def test_names_carry_weights_and_one_is_the_default() -> None:
    assert parse_tenants("chat@3,batch") == Shares(("chat", "batch"), (3.0, 1.0))


def test_priorities_are_integers_also_negative_ones() -> None:
    assert parse_priorities("-1@0.2,5@.8") == Shares(("-1", "5"), (0.2, 0.8))
    assert parse_priorities("5") == Shares(("5",), (1.0,))


def test_pick_follows_the_weights_to_the_very_edges() -> None:
    u = np.array([0.0, 0.749, 0.75, np.nextafter(1.0, 0.0)])
    assert parse_tenants("a@3,b@1").pick(u) == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    "text", ["", "0", "10001", "99999999999", "a@0", "a@-1", "a@inf", "a@nan", "a@x", "a@", "a,,b",
             "a,a", "a b", "1a", "-3"]
)  # fmt: skip
def test_other_tenants_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        parse_tenants(text)


@pytest.mark.parametrize("text", ["", "a", "1.5", "0@0", "0,0", "0@1@2", "99999999999"])
def test_other_priorities_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected"):
        parse_priorities(text)
