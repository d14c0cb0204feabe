"""Colons separate parameters, and may stand in their values."""

import pytest

from sched_core import InputError
from sched_core.catalogue.specs import parse_part


@pytest.mark.parametrize(
    ("spec", "params"),
    [
        ("torch:device=cuda:1:threads=1", {"device": "cuda:1", "threads": "1"}),
        ("azure:path=C:\\a:b.csv", {"path": "C:\\a:b.csv"}),
        ("recorded:path=a::b", {"path": "a::b"}),
    ],
)
def test_values_may_hold_colons(spec: str, params: dict[str, str]) -> None:
    assert parse_part(spec, what="hardware") == (spec.partition(":")[0], params)


def test_the_first_parameter_has_a_key() -> None:
    with pytest.raises(InputError, match="not a parameter"):
        parse_part("fcfs:30:aging=5", what="policy")
