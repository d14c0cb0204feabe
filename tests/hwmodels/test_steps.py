"""Many decode steps priced at once: the very floats, and nanoseconds, of one after the other."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwmodels.constant import Constant, ConstantCosts
from hwmodels.measured.linear_costs import FITTED, LinearCosts
from hwmodels.roofline.costs import RooflineCosts
from hwmodels.roofline.gpus import A100
from sched_core import SeriesCosts, StepLoad
from sched_core.catalogue.specs import build
from sched_core.execution.executor import steps_of
from sched_core.limits import MAX_SECONDS, NANOSECONDS

SECONDS = st.floats(0, 1e-2)

LINEAR = st.builds(LinearCosts, **dict.fromkeys(FITTED, SECONDS), block_out=SECONDS)
ROOFLINE = st.builds(
    RooflineCosts,
    tile=st.integers(1, 256),
    **dict.fromkeys(
        ("layer_row", "layer_read", "head_row", "head_read", "kv_token", "pair", "token", "fixed",
         "block"),
        SECONDS,
    ),
    recompute_chunk=st.just(2048),
    overlap=st.booleans(),
)  # fmt: skip
CONSTANT = st.builds(
    ConstantCosts, st.builds(Constant, step=st.floats(1e-9, 10), overlap=st.booleans())
)
OF_A_GPU = st.sampled_from(["a100", "l4:overlap=true", "h100:c0=0.001"]).map(
    lambda spec: build("hardware", spec).executor("llama-3-8b", block_size=16).costs
)


@st.composite
def decodes(draw: st.DrawFn) -> StepLoad:
    """A step of decodes alone; a static batch may hold some that emit nothing."""
    count = draw(st.integers(1, 4096))
    return StepLoad(
        decodes=count,
        decode_kv_tokens=count * draw(st.integers(1, 2**31)) + draw(st.integers(0, count - 1)),
        sampled=draw(st.sampled_from([0, count, count // 2])),
    )


@given(LINEAR | ROOFLINE | CONSTANT | OF_A_GPU, decodes(), st.integers(0, 40))
def test_the_floats_are_those_of_single_steps(costs: SeriesCosts, load: StepLoad, n: int) -> None:
    found = costs.steps(load, n)
    assert found is not None
    one_by_one = [
        costs.step(load._replace(decode_kv_tokens=load.decode_kv_tokens + i * load.decodes))
        for i in range(n)
    ]
    assert list(found) == one_by_one  # not approximately


@given(st.lists(st.floats(0, MAX_SECONDS)))
def test_nanoseconds_are_rounded_alike(seconds: list[float]) -> None:
    ticks = np.rint(np.array(seconds) * NANOSECONDS).astype(np.int64)
    assert ticks.tolist() == [round(x * NANOSECONDS) for x in seconds]


@given(st.integers(0, 2**52 - 1))
def test_both_round_halves_to_even(whole: int) -> None:
    """Above 2**52 nanoseconds, 52 days, a float holds no halves."""
    for ticks in (whole + 0.5, np.nextafter(whole + 0.5, 0), np.nextafter(whole + 0.5, np.inf)):
        assert int(np.rint(ticks)) == round(float(ticks))
    assert int(np.rint(whole + 0.5)) % 2 == 0


@pytest.mark.parametrize("spec", ["constant", "a100", "l4:overlap=true"])
def test_hardware_of_ours_prices_many_steps(spec: str) -> None:
    costs = build("hardware", spec).executor("llama-3-8b", block_size=16).costs
    assert steps_of(costs) == costs.steps


def test_a_price_of_another_step_is_asked_step_by_step() -> None:
    class Slower(RooflineCosts):
        def step(self, load: StepLoad) -> float:
            return 2 * super().step(load)

    priced = A100().executor("llama-3-8b", block_size=16).costs
    assert steps_of(Slower(**attrs.asdict(priced))) is None
