"""Measured steps, and how far a hardware model is from them."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from sched_core import files
from sched_core.errors import InputError, UnknownName
from sched_core.execution.load import StepLoad, mixed_load

COLUMNS = ("model", "kind", "tokens", "batch", "kv_len", "measured_ms")
"""What a file of measured steps must hold; other columns in `_ms` are allowed, and not read."""

SOURCE = (
    "a CSV of measured steps, as docs/reference/hardware.md describes; that of the built-in "
    "constants is composed of published tables, which `schedfw hardware show a100` names with its "
    "errors"
)

Pricer = Callable[[StepLoad], float]


@attrs.frozen
class MeasuredStep:
    """One row: what a step held, and how long it took."""

    kind: str
    load: StepLoad
    seconds: float


def step_load(kind: str, *, tokens: int, batch: int, kv_len: int) -> StepLoad:
    """What one row describes: `tokens` new tokens of `batch` requests, each of which samples.

    * decode: every request computes one token and attends to `kv_len`, that token included;
    * prefill: every request computes an equal chunk and then holds `kv_len` tokens;
    * mixed, with or without the chunk's length behind it: one prompt chunk from position 0, beside
      `batch - 1` decodes that attend to `kv_len` each.

    Raises ValueError when the numbers do not go together.
    """
    if kind == "decode":
        _require(tokens == batch, "as many tokens as requests in a decode step")
        return _load(batch, kv_len, 0, 0, 0)
    if kind == "prefill":
        _require(tokens % batch == 0, "tokens that divide evenly among the requests")
        _require(kv_len >= tokens // batch, "kv_len of at least the chunk's length")
        return _load(0, 0, batch, tokens // batch, kv_len)
    _require(re.fullmatch(r"mixed\d*", kind) is not None, "kind prefill, decode or mixed")
    _require(1 < batch <= tokens, "a chunk and at least one decode in a mixed step")
    chunk = tokens - (batch - 1)
    return _load(batch - 1, kv_len, 1, chunk, chunk)


def _require(ok: bool, expected: str) -> None:
    if not ok:
        raise ValueError(expected)


def _load(decodes: int, decode_kv: int, chunks: int, chunk: int, chunk_kv: int) -> StepLoad:
    several = [(chunk_kv - chunk, chunk)] * chunks
    return mixed_load(decodes, decodes * (decode_kv - 1), several, decodes + chunks)


def read_steps(path: Path) -> list[MeasuredStep]:
    """The measured steps in a CSV file with the columns `COLUMNS`.

    Raises InputError naming file, line, field and value.
    """
    if not path.exists():
        raise InputError("cannot be read: No such file or directory", file=path, expected=SOURCE)
    rows = files.read_csv(path)
    row, header = next(rows, (1, []))
    _check_header(header, path, row)
    steps = [_step(header, cells, path, row) for row, cells in rows]
    if not steps:
        raise InputError("holds no measured steps", file=path, expected="at least one row")
    return steps


def _check_header(header: Sequence[str], path: Path, row: int) -> None:
    for column in header:
        if column not in COLUMNS and "_ms" not in column:
            raise UnknownName("column", column, COLUMNS, where=f"{path}, line {row}")
    for column in COLUMNS:
        if header.count(column) != 1:
            problem = "column given twice" if column in header else "column missing"
            raise InputError(problem, file=path, row=row, field=column, expected=", ".join(COLUMNS))


def _step(header: Sequence[str], found: Sequence[str], path: Path, row: int) -> MeasuredStep:
    if len(found) != len(header):
        raise InputError("more or fewer cells than columns", file=path, row=row)
    cells = dict(zip(header, found, strict=True))
    sizes = {column: _count(cells, column, path, row) for column in ("tokens", "batch", "kv_len")}
    try:
        load = step_load(cells["kind"], **sizes)
    except ValueError as error:
        shown = " ".join(f"{key}={value}" for key, value in sizes.items())
        raise InputError(
            f"{shown} do not go together",
            file=path,
            row=row,
            field="kind",
            value=cells["kind"],
            expected=str(error),
        ) from None
    return MeasuredStep(cells["kind"], load, _milliseconds(cells, "measured_ms", path, row) / 1e3)


def _count(cells: Mapping[str, str], field: str, path: Path, row: int) -> int:
    text = cells[field]
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", text.strip()):
        raise InputError(
            "out of range", file=path, row=row, field=field, value=text,
            expected="an integer above 0, of nine digits at most",
        )  # fmt: skip
    return int(text)


def _milliseconds(cells: Mapping[str, str], field: str, path: Path, row: int) -> float:
    try:
        value = float(cells[field])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(
            "out of range", file=path, row=row, field=field, value=cells[field],
            expected="milliseconds, a finite number above 0",
        )  # fmt: skip
    return value


@attrs.frozen
class Deviation:
    """Relative errors, priced / measured - 1, of one kind of step."""

    kind: str
    rows: int
    error: float
    """Mean of the absolute values."""
    bias: float
    """Mean with sign: above 0 is priced too slow."""
    worst: float
    """The one furthest from 0, with sign."""


def deviations(steps: Sequence[MeasuredStep], priced: Iterable[float]) -> list[Deviation]:
    """Per kind, in order of appearance, and last over `all`; `priced` in seconds, step by step."""
    by_kind: dict[str, list[float]] = {step.kind: [] for step in steps}
    for step, seconds in zip(steps, priced, strict=True):
        by_kind[step.kind].append(seconds / step.seconds - 1)
    by_kind["all"] = [error for errors in by_kind.values() for error in errors]
    return [_deviation(kind, errors) for kind, errors in by_kind.items()]


def _deviation(kind: str, errors: Sequence[float]) -> Deviation:
    rows = len(errors)
    return Deviation(
        kind, rows, math.fsum(map(abs, errors)) / rows, math.fsum(errors) / rows,
        max(errors, key=abs),
    )  # fmt: skip


def price_left_out(
    fit: Callable[[Sequence[MeasuredStep]], Pricer], steps: Sequence[MeasuredStep], folds: int = 3
) -> list[float]:
    """Each step's seconds as priced by a fit that did not see it: row i is in part i mod `folds`.

    The error of these says how well a fit does on rows it was not made for.
    """
    pricers = [
        fit([step for i, step in enumerate(steps) if i % folds != part]) for part in range(folds)
    ]
    return [pricers[i % folds](step.load) for i, step in enumerate(steps)]
