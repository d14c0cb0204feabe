"""The fit against measured steps, and what becomes of it on rows and models it has not seen."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from hwmodels.roofline.fit import START
from hwmodels.roofline.gpus import A100, GPUS
from sched_core.calibration.measured_steps import (
    MeasuredStep,
    Pricer,
    deviations,
    price_left_out,
    read_steps,
    step_load,
)

MODEL = "llama-3-8b"


@pytest.fixture(scope="module")
def a100(shared: Path) -> Path:
    return shared / "data" / "a100"


@pytest.fixture(scope="module")
def steps(a100: Path) -> list[MeasuredStep]:
    return read_steps(a100 / "llama3_8b_steps.csv")


def pricer(constants: dict[str, Any] | None = None, model: str = MODEL) -> Pricer:
    gpu = attrs.evolve(A100(), **(constants or {}))
    return gpu.executor(model, block_size=16).costs.step


def fit(steps: Sequence[MeasuredStep]) -> dict[str, float]:
    return A100().calibrate(MODEL, [s.load for s in steps], [s.seconds for s in steps])


def error(steps: Sequence[MeasuredStep], price: Pricer) -> float:
    return deviations(steps, [price(step.load) for step in steps])[-1].error


def test_the_mean_error_over_the_60_rows_is_small(steps: list[MeasuredStep]) -> None:
    assert len(steps) == 60
    assert error(steps, pricer()) < 0.03


def test_the_constants_shipped_are_those_fitted(steps: list[MeasuredStep]) -> None:
    fitted = fit(steps)
    shipped = {key: value for key, value in GPUS["a100"]["fit"].items() if key in fitted}
    assert fitted == pytest.approx(shipped, rel=0.011)  # the last of three digits, at most
    assert list(fitted) == list(START)


def test_the_fit_finds_the_constants_that_made_the_times() -> None:
    made = {"ec": 0.6, "eb": 0.9, "ek": 0.7, "ea": 0.5, "ce": 50.0, "cl": 50e-6}
    price = pricer(made)
    loads = [
        step_load("decode", tokens=batch, batch=batch, kv_len=kv)
        for batch in (1, 16, 64, 256)
        for kv in (128, 1024, 8192)
    ] + [step_load("prefill", tokens=t, batch=1, kv_len=t) for t in range(256, 8192, 512)]
    times = [price(load) for load in loads]
    refitted = pricer(A100().calibrate(MODEL, loads, times))
    assert max(abs(refitted(load) / time - 1) for load, time in zip(loads, times, strict=True)) < (
        0.03
    )


def test_rows_that_the_fit_has_not_seen_are_priced_nearly_as_well(
    steps: list[MeasuredStep],
) -> None:
    priced = price_left_out(lambda some: pricer(fit(some)), steps)
    assert deviations(steps, priced)[-1].error < 0.035


@pytest.mark.parametrize(("kind", "limit"), [("prefill", 0.05), ("mixed", 0.05), ("decode", 0.08)])
def test_a_kind_that_the_fit_has_not_seen_is_priced_fairly(
    steps: list[MeasuredStep], kind: str, limit: float
) -> None:
    seen = [step for step in steps if not step.kind.startswith(kind)]
    unseen = [step for step in steps if step.kind.startswith(kind)]
    assert error(unseen, pricer(fit(seen))) < limit


Table = dict[tuple[int, ...], float]


def read_table(path: Path, key: Sequence[str], value: str) -> Table:
    with path.open(newline="") as file:
        return {tuple(int(r[k]) for k in key): float(r[value]) for r in csv.DictReader(file)}


@pytest.fixture(scope="module")
def prompts(a100: Path) -> Table:
    """(KV heads, requests, prompt) -> ms of one layer's attention."""
    key = ("num_key_value_heads", "batch_size", "isl")
    return read_table(a100 / "aiconfigurator/a100_vllm_context_attention_32h.csv", key, "latency")


@pytest.fixture(scope="module")
def decodes(a100: Path) -> Table:
    """(requests, context before the new token) -> ms of one layer's attention, 8 KV heads."""
    key = ("batch_size", "step")
    return read_table(
        a100 / "aiconfigurator/a100_vllm_generation_attention_32h.csv", key, "latency"
    )


def test_rows_are_composed_as_step_load_reads_them(
    a100: Path, steps: list[MeasuredStep], prompts: Table, decodes: Table
) -> None:
    """The attention part of each row is that of its chunk alone plus that of its decodes."""
    with (a100 / "llama3_8b_steps.csv").open(newline="") as file:
        parts = [float(row["attn_ms"]) for row in csv.DictReader(file)]
    for step, measured in zip(steps, parts, strict=True):
        load = step.load
        chunk = prompts[8, 1, load.prefill_tokens] if load.prefills else 0.0
        mean = load.decode_kv_tokens // load.decodes if load.decodes else 0
        others = decodes[load.decodes, mean - 1] if load.decodes else 0.0
        assert 32 * (chunk + others) == pytest.approx(measured, rel=1e-3)


@pytest.fixture(scope="module")
def llama_2_7b(
    a100: Path, steps: list[MeasuredStep], prompts: Table, decodes: Table
) -> list[MeasuredStep]:
    """Llama-2-7B composed likewise, as far as the tables go.

    The linear part of a Llama-3-8B row, times the ratio of the two models' matrix products in the
    second source; prompt attention with 32 KV heads as measured; decode attention of 4 x 8 KV
    heads as that of 4 x the requests, which reads the same bytes.
    """
    products = read_table(
        a100 / "aiconfigurator/a100_vllm_gemm_k4096.csv", ("m", "n", "k"), "latency"
    )
    sizes = sorted({m for m, _, _ in products})
    with (a100 / "llama3_8b_steps.csv").open(newline="") as file:
        linear = [float(row["linear_ms"]) for row in csv.DictReader(file)]
    composed = []
    for step, ms in zip(steps, linear, strict=True):
        load = step.load
        rows = min(sizes, key=lambda m: abs(m - load.new_tokens))
        mean = load.decode_kv_tokens // max(load.decodes, 1)
        key = (4 * load.decodes, mean - 1)
        if load.decodes and key not in decodes:
            continue
        chunk = prompts[32, 1, load.prefill_tokens] if load.prefills else 0.0
        attention = 32 * (chunk + (decodes[key] if load.decodes else 0.0))
        ms = ms * _ratio(products, rows) + attention + 0.66 * 32_000 / 128_256
        composed.append(MeasuredStep(step.kind, load, ms / 1e3))
    return composed


def _ratio(products: Table, rows: int) -> float:
    """Matrix products of a layer, Llama-2-7B : Llama-3-8B; sizes between measured ones scale."""

    def layer(qkv: int, mlp: int) -> float:
        up = products[rows, 16384, 4096] * 2 * mlp / 16384
        down = products[rows, 4096, 12288] * mlp / 12288
        return products[rows, qkv, 4096] + products[rows, 4096, 4096] + up + down

    return layer(12288, 11008) / layer(6144, 14336)


def test_the_fit_carries_over_to_another_model(llama_2_7b: list[MeasuredStep]) -> None:
    assert len(llama_2_7b) > 40
    assert error(llama_2_7b, pricer(model="llama-2-7b")) < 0.055


def test_no_rows_leave_the_start() -> None:
    assert A100().calibrate(MODEL, [], []) == pytest.approx(dict(START))
