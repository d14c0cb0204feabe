"""`constant`: the hardware of hand-worked cases."""

import math

import pytest

from hwmodels.constant import Constant
from sched_core import Capacity, Hardware, InputError, StepLoad, StepPlan
from sched_core.catalogue.specs import build

BUSY = StepLoad(decodes=3, decode_kv_tokens=90, prefills=1, prefill_tokens=500, sampled=3)


def plan(load: StepLoad) -> StepPlan:
    return StepPlan(0, 0, load, load.new_tokens, ())


def test_every_step_lasts_exactly_the_same() -> None:
    hardware = build("hardware", "constant:step=1")
    assert isinstance(hardware, Hardware)
    executor = hardware.executor(None, block_size=16)
    for load in (StepLoad(decodes=1), BUSY, BUSY._replace(blocks_out=9, blocks_in=4)):
        assert executor.execute(plan(load)).duration == 1.0
        assert executor.costs.step(load) == 1.0


def test_swap_seconds_are_added_per_block() -> None:
    executor = build("hardware", "constant:step=1:swap_out=0.5:swap_in=0.25").executor(
        None, block_size=16
    )
    assert executor.execute(plan(BUSY._replace(blocks_out=2, blocks_in=3))).duration == 2.75
    assert executor.costs.swap_out(2) == 1.0
    assert executor.costs.swap_in(3) == 0.75


def test_overlapping_copies_hide_behind_the_step() -> None:
    costs = (
        build("hardware", "constant:step=1:swap_out=0.5:overlap=true")
        .executor(None, block_size=16)
        .costs
    )
    assert costs.step(BUSY._replace(blocks_out=1)) == 1.0
    assert costs.step(BUSY._replace(blocks_out=3)) == 1.5
    assert (costs.swap_out(1, BUSY), costs.swap_out(3, BUSY)) == (0.0, 0.5)


def test_recompute_is_free_beside_other_work() -> None:
    costs = build("hardware", "constant:step=2").executor(None, block_size=16).costs
    assert costs.recompute(4096, BUSY) == 0.0
    assert costs.recompute(4096, StepLoad()) == 2.0


def test_capacity_has_no_opinion() -> None:
    executor = build("hardware", "constant").executor(None, block_size=16)
    capacity = executor.capacity(
        block_size=16, gpu_memory_utilization=0.9, max_num_batched_tokens=2048
    )
    assert capacity == Capacity(num_gpu_blocks=None, max_model_len=None, block_bytes=0)


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "fast"])
def test_a_senseless_step_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="step"):
        build("hardware", f"constant:step={value}")


@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan])
def test_a_senseless_swap_time_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="swap_in"):
        Constant(swap_in=value)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("constant:step=1e10", "step"),
        ("constant:step=1e-10", "step"),
        ("constant:swap_out=1e300", "swap_out"),
        ("a100:ec=1e-300", "ec"),
        ("a100:memory=1e300", "memory"),
        ("a100:cl=1e10", "cl"),
        ("a100:copy=1e10", "copy"),
        ("a100:tile=1.5", "tile"),
    ],
)
def test_a_parameter_beyond_the_limits_is_refused(spec: str, field: str) -> None:
    with pytest.raises(InputError, match=f"'{field}'.*; expected "):
        build("hardware", spec)


@pytest.mark.parametrize("spec", ["measured:path=", "recorded:path="])
def test_an_empty_path_is_said_to_be_empty(spec: str) -> None:
    with pytest.raises(InputError, match="field 'path': empty"):
        build("hardware", spec)
