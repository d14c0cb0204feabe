"""Rows of measured steps: what they mean, and which are refused."""

from pathlib import Path

import pytest

from sched_core import InputError, StepLoad, UnknownName
from sched_core.calibration.measured_steps import (
    Deviation,
    MeasuredStep,
    deviations,
    read_steps,
    step_load,
)

HEADER = "model,kind,tokens,batch,kv_len,measured_ms,linear_ms\n"
GOOD = "M,decode,4,4,256,11.5,\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "steps.csv"


def test_a_decode_row() -> None:
    assert step_load("decode", tokens=3, batch=3, kv_len=100) == StepLoad(
        decodes=3, decode_kv_tokens=300, sampled=3
    )


def test_a_prefill_row() -> None:
    # two requests of 10 new tokens each, after 5 computed ones
    assert step_load("prefill", tokens=20, batch=2, kv_len=15) == StepLoad(
        prefills=2, prefill_tokens=20, prefill_kv_tokens=30, prefill_pairs=2 * (50 + 55), sampled=2
    )


def test_a_mixed_row() -> None:
    assert step_load("mixed256", tokens=264, batch=9, kv_len=512) == StepLoad(
        decodes=8, decode_kv_tokens=4096, prefills=1, prefill_tokens=256, prefill_kv_tokens=256,
        prefill_pairs=256 * 257 // 2, sampled=9,
    )  # fmt: skip


def test_rows_are_read_with_lines_and_units(file: Path) -> None:
    file.write_text(HEADER + GOOD)
    (step,) = read_steps(file)
    assert step == MeasuredStep("decode", StepLoad(4, 1024, sampled=4), 0.0115)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("M,decode,4,4,256,nan,1", ["measured_ms", "'nan'", "above 0"]),
        ("M,decode,4,4,256,inf,1", ["measured_ms", "'inf'"]),
        ("M,decode,4,4,256,-3,1", ["measured_ms", "'-3'"]),
        ("M,decode,4,4,256,,1", ["measured_ms", "''"]),
        ("M,decode,4,4,-1,9,1", ["kv_len", "'-1'", "integer above 0"]),
        ("M,decode,4.5,4,256,9,1", ["tokens", "'4.5'", "integer above 0"]),
        ("M,decode,4,0,256,9,1", ["batch", "'0'"]),
        ("M,decode,4,3,256,9,1", ["kind", "'decode'", "batch=3", "as many tokens as requests"]),
        ("M,prefill,9,2,9,9,1", ["kind", "'prefill'", "divide evenly"]),
        ("M,prefill,9,1,8,9,1", ["kind", "'prefill'", "kv_len of at least"]),
        ("M,mixed,9,1,8,9,1", ["kind", "'mixed'", "at least one decode"]),
        ("M,verify,9,1,8,9,1", ["kind", "'verify'", "prefill, decode or mixed"]),
        ("M,decode,4,4,256", ["more or fewer cells"]),
        ("M,decode,4,4,256,9,1,7", ["more or fewer cells"]),
    ],
)
def test_a_bad_row_names_file_line_field_and_value(file: Path, row: str, words: list[str]) -> None:
    file.write_text(f"{HEADER}{GOOD}{row}\n")
    with pytest.raises(InputError) as caught:
        read_steps(file)
    for word in (str(file), "line 3", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (HEADER.replace("kv_len,", ""), ["line 1", "'kv_len'", "missing"]),
        (HEADER.replace("kv_len", "tokens"), ["line 1", "'tokens'", "twice"]),
        ("", ["line 1", "'model'", "missing"]),
    ],
)
def test_a_bad_header_names_the_column(file: Path, header: str, words: list[str]) -> None:
    file.write_text(header)
    with pytest.raises(InputError) as caught:
        read_steps(file)
    for word in (str(file), *words):
        assert word in str(caught.value)


def test_an_unknown_column_says_which_was_meant(file: Path) -> None:
    file.write_text(HEADER.replace("batch", "batches"))
    with pytest.raises(UnknownName, match=r"line 1: unknown column 'batches'; .*'batch'"):
        read_steps(file)


@pytest.mark.parametrize("content", [HEADER.encode(), HEADER.encode() + b"\xff"])
def test_a_file_without_rows_is_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"steps\.csv: (holds no|is not UTF-8)"):
        read_steps(file)


def test_a_missing_file_is_refused(file: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_steps(file)


def test_errors_are_relative_per_kind_and_over_all() -> None:
    load = StepLoad(decodes=1)
    steps = [MeasuredStep(kind, load, 2.0) for kind in ("decode", "decode", "prefill")]
    by_kind = {item.kind: item for item in deviations(steps, [1.0, 3.0, 4.0])}
    assert list(by_kind) == ["decode", "prefill", "all"]
    assert by_kind["decode"] == Deviation("decode", 2, 0.5, 0.0, -0.5)
    assert by_kind["prefill"] == Deviation("prefill", 1, 1.0, 1.0, 1.0)
    assert by_kind["all"].error == pytest.approx(2 / 3)
    assert by_kind["all"].bias == pytest.approx(1 / 3)
