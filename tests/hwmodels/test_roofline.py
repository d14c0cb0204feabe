"""The roofline: exact on round numbers, monotone everywhere, honest about what does not fit."""

import json
import math
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwmodels.roofline.gpus import A100, GPUS, Roofline
from sched_core import Costs, Executor, Hardware, InputError, StepLoad, StepPlan
from sched_core.catalogue.specs import build

GPU_NAMES = ("a100", "a100-40gb", "h100", "h200", "a10g", "l4", "l40s", "rtx-4090")
DECODES = StepLoad(decodes=32, decode_kv_tokens=32 * 1024, sampled=32)


ROUND = {
    "gpu": "Round", "peak_flops": 1e6, "bandwidth": 1e6, "memory": 1e6, "host_link": 1e4,
    "tile": 4, "source": "none",
    "fit": {"basis": "none", "ec": 0.5, "eb": 0.5, "ek": 0.25, "ea": 0.5, "ce": 10.0, "cl": 0.25},
}  # fmt: skip


class Round(Roofline):
    """A GPU of round numbers."""

    data = ROUND


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """A config.json: 2 layers of width 8, 2 heads of 4, 1 KV head, MLP of 16, 100 words."""
    config = {
        "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2,
        "num_key_value_heads": 1, "intermediate_size": 16, "vocab_size": 100,
        "max_position_embeddings": 64,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    return str(tmp_path / "config.json")


def costs(gpu: Any, model: str, block_size: int = 16) -> Costs:
    executor: Executor = gpu.executor(model, block_size=block_size)
    return executor.costs


def test_a_step_is_the_formula(tiny: str) -> None:
    # layers: 2 x 8 x (2 x 3 x 4 + 3 x 16) = 1152 weights; head: 800
    load = StepLoad(
        decodes=2, decode_kv_tokens=30, prefills=1, prefill_tokens=3, prefill_kv_tokens=10,
        prefill_pairs=27, sampled=2,
    )  # fmt: skip
    layers = math.hypot(2 * 1152 * 8 / 5e5, 1152 * 2 / 5e5)  # 5 new tokens fill 8 rows
    head = math.hypot(2 * 800 * 2 / 5e5, 800 * 2 / 5e5)
    cache = 40 * (2 * 2 * 4 * 2) / 2.5e5
    attention = 4 * 27 * 2 * 2 * 4 / 5e5
    activations = 10 * 5 * 2 * 8 * 2 / 1e6
    expected = layers + head + cache + attention + activations + 2 * 0.25
    assert costs(Round(), tiny).step(load) == pytest.approx(expected, rel=1e-12)
    assert costs(Round(c0=1.5), tiny).step(load) == pytest.approx(expected + 1.5, rel=1e-12)


def test_tokens_fill_rows_of_whole_tiles(tiny: str) -> None:
    step = costs(Round(ce=1e-30), tiny).step
    times = [step(StepLoad(prefills=1, prefill_tokens=tokens)) for tokens in range(1, 13)]
    assert times[0] < times[1] < times[2] < times[3] < times[4]  # below a tile: its own rows
    assert times[4:8] == [pytest.approx(times[7])] * 4
    assert times[8] > times[7]


def test_copies_block_the_step(tiny: str) -> None:
    # one block of 16 tokens: 16 x 32 bytes over 1e4 bytes/s, and 2 x 2 copies
    priced = costs(Round(copy=0.001), tiny)
    assert priced.swap_out(3) == priced.swap_in(3) == pytest.approx(3 * (0.0512 + 0.004))
    load = StepLoad(decodes=1, decode_kv_tokens=5, sampled=1)
    more = priced.step(load._replace(blocks_out=2, blocks_in=1)) - priced.step(load)
    assert more == pytest.approx(priced.swap_out(3))


def test_bytes_over_the_link_are_those_of_grouped_queries() -> None:
    seconds = costs(A100(copy=0.0), "llama-3.1-8b").swap_out(256)  # 4,096 tokens
    assert seconds == pytest.approx(4096 * 131_072 / 32e9)


def test_recompute_costs_what_its_chunks_add() -> None:
    priced = costs(A100(recompute_chunk=100), "llama-3-8b")
    alone = priced.step(DECODES)
    first = priced.step(
        DECODES._replace(prefills=1, prefill_tokens=100, prefill_kv_tokens=100, prefill_pairs=5050)
    )
    rest = priced.step(
        DECODES._replace(
            prefills=1, prefill_tokens=50, prefill_kv_tokens=150, prefill_pairs=5000 + 1275
        )
    )
    assert priced.recompute(150, DECODES) == pytest.approx(first + rest - 2 * alone)


def test_recompute_beats_swap_only_where_it_rides_along() -> None:
    priced = costs(A100(), "llama-2-7b")

    def swap(tokens: int) -> float:
        return priced.swap_out(tokens // 16) + priced.swap_in(tokens // 16)

    assert priced.recompute(64, DECODES) < swap(64) < priced.recompute(64, StepLoad())
    assert swap(1024) < priced.recompute(1024, DECODES)


def test_execute_prices_the_plan() -> None:
    executor = A100().executor("llama-3-8b", block_size=16)
    plan = StepPlan(0, 0, DECODES, DECODES.new_tokens, ())
    assert executor.execute(plan).duration == executor.costs.step(DECODES)


SIZES = st.integers(0, 4096)
CONTEXTS = st.integers(0, 2**20)
LOADS = st.builds(
    StepLoad, decodes=SIZES, decode_kv_tokens=CONTEXTS, prefills=st.integers(0, 64),
    prefill_tokens=SIZES, prefill_kv_tokens=CONTEXTS, prefill_pairs=st.integers(0, 2**33),
    sampled=st.integers(0, 512), blocks_out=SIZES, blocks_in=SIZES,
)  # fmt: skip
PRICES = {
    (name, model): costs(build("hardware", name), model)
    for name in GPU_NAMES
    for model in ("llama-3-8b", "opt-13b")
}


@given(LOADS, st.sampled_from(StepLoad._fields), st.integers(1, 3000), st.sampled_from([*PRICES]))
def test_more_work_never_takes_less_time(
    load: StepLoad, field: str, more: int, which: tuple[str, str]
) -> None:
    step = PRICES[which].step
    heavier = load._replace(**{field: getattr(load, field) + more})
    assert 0 <= step(load) <= step(heavier) < math.inf
    assert step(load) > 0 or not any(load)


@given(st.integers(0, 20_000), st.integers(0, 20_000), LOADS)
def test_recompute_is_never_negative_and_grows(tokens: int, more: int, beside: StepLoad) -> None:
    priced = PRICES["a100", "llama-3-8b"]
    less = priced.recompute(tokens, beside)
    slack = 1e-12 * priced.step(beside)  # it is a sum of differences
    assert -slack <= less <= priced.recompute(tokens + more, beside) + slack


@pytest.mark.parametrize("name", GPU_NAMES)
def test_every_gpu_is_hardware_with_its_source(name: str) -> None:
    hardware: Any = build("hardware", name)
    facts = hardware.describe()
    assert isinstance(hardware, Hardware)
    assert facts["source"].startswith("NVIDIA")
    assert facts["overridden"] == []
    expected = "fitted on this GPU" if name == "a100" else "carried over from A100 80 GB, not"
    assert facts["efficiencies"].startswith(expected)
    json.dumps(facts, allow_nan=False)


def test_every_gpu_of_the_file_has_an_entry_point() -> None:
    assert set(GPUS) == set(GPU_NAMES)


def test_overlapping_swaps_hide_behind_the_step() -> None:
    blocking, beside = costs(A100(), "llama-3-8b"), costs(A100(overlap=True), "llama-3-8b")
    assert beside.step(DECODES._replace(blocks_out=1)) == beside.step(DECODES)
    assert beside.swap_out(1, DECODES) == 0.0
    assert beside.swap_out(1) == blocking.swap_out(1) > 0
    many = DECODES._replace(blocks_out=4000)
    assert beside.step(many) == pytest.approx(blocking.swap_out(4000))


def test_parameters_are_overridden_by_the_spec() -> None:
    hardware = build("hardware", "a100:ec=0.8:tile=64")
    assert (hardware.ec, hardware.tile, hardware.eb) == (0.8, 64, A100().eb)
    assert hardware.describe()["overridden"] == ["tile", "ec"]


MAY_BE_ZERO = ("c0", "copy")
SENSELESS = [
    (field.name, value)
    for field in attrs.fields(A100)
    for value in (0, -1, math.inf, math.nan)
    if (value != 0 or field.name not in MAY_BE_ZERO) and field.name != "overlap"
]


@pytest.mark.parametrize(("field", "value"), SENSELESS)
def test_senseless_constants_are_refused(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=field):
        A100(**{field: value})


def test_a_roofline_needs_a_model() -> None:
    with pytest.raises(InputError, match=r"none is given.*llama-3-8b"):
        A100().executor(None, block_size=16)


def test_capacity_is_what_is_left_of_the_memory(tiny: str) -> None:
    # weights (1152 + 2 x 800) x 2 bytes; 10 tokens x 2 bytes x (2 x 8 + 3 x 16); 4 x 32 a block
    executor = Round(memory=10_000).executor(tiny, block_size=4)
    capacity = executor.capacity(
        block_size=4, gpu_memory_utilization=0.9, max_num_batched_tokens=10
    )
    assert capacity.block_bytes == 128
    assert capacity.num_gpu_blocks == (9_000 - 5_504 - 1_280) // 128
    assert capacity.max_model_len == 64


def test_a_model_that_does_not_fit_is_refused_with_the_sums() -> None:
    executor = A100().executor("llama-2-70b", block_size=16)
    with pytest.raises(InputError, match=r"llama-2-70b .* weights 138\.0 GB .* = 77\.3 GB"):
        executor.capacity(block_size=16, gpu_memory_utilization=0.9, max_num_batched_tokens=2048)
