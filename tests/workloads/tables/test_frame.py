"""Requests out of data frames, and out of numpy's numbers."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from sched_core import (
    HashedPrefix,
    InputError,
    RequestSpec,
    SharedPrefix,
    UnknownName,
    Workload,
)

PLAIN = {"arrival": [0.5, 0.0], "prompt_len": [8, 9], "output_len": [1, 2]}


def lengths(workload: Workload) -> list[tuple[float, int, int]]:
    return [(r.arrival, r.prompt_len, r.output_len) for r in workload.requests]


class Frame:
    """What pandas and polars have in common: `columns`, and a column under its name."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]


@pytest.mark.parametrize(
    "frame",
    [
        PLAIN,
        Frame(PLAIN),
        {name: tuple(values) for name, values in PLAIN.items()},
        {name: np.array(values) for name, values in PLAIN.items()},
        {name: np.array(values, dtype=np.float32) for name, values in PLAIN.items()},
        {name: np.array(values, dtype=object) for name, values in PLAIN.items()},
    ],
)
def test_columns_of_any_kind_are_requests(frame: Any) -> None:
    workload = Workload.from_frame(frame)
    assert lengths(workload) == [(0.0, 9, 2), (0.5, 8, 1)]
    assert all(type(r.prompt_len) is int and type(r.arrival) is float for r in workload.requests)
    assert workload.description == {
        "kind": "frame",
        "rows_read": 2,
        "order": "sorted by arrival: 1 rows stood behind a later one",
    }


def test_pyarrows_tables_are_frames_too() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'schedfw[files]'")
    assert lengths(Workload.from_frame(pyarrow.table(PLAIN))) == [(0.0, 9, 2), (0.5, 8, 1)]


def test_columns_are_named_and_the_setting_says_so() -> None:
    frame = {
        "when": np.array(
            ["2023-11-16T18:17:03.979960001", "2023-11-16T18:17:04"], "datetime64[ns]"
        ),
        "in": [3, 4],
        "out": [5, 6],
        "who": ["a", None],
        "model": ["x", "y"],
    }
    workload = Workload.from_frame(
        frame, arrival="when", prompt_len="in", output_len="out", tenant="who"
    )
    assert lengths(workload) == [(0.0, 3, 5), (0.020039999, 4, 6)]
    assert [request.tenant for request in workload.requests] == ["a", "default"]
    assert workload.description == {
        "kind": "frame", "rows_read": 2, "arrival": "when", "prompt_len": "in",
        "output_len": "out", "tenant": "who",
        "stamps": "dates without a zone, taken as UTC",
    }  # fmt: skip
    assert [request.extra for request in workload.requests] == [{"model": "x"}, {"model": "y"}]


def test_dates_of_python_and_other_units() -> None:
    times = [datetime(2024, 5, 10, tzinfo=UTC), datetime(2024, 5, 10, 0, 0, 1, 500_000, tzinfo=UTC)]
    frame = {**PLAIN, "arrival": times}
    assert [arrival for arrival, *_ in lengths(Workload.from_frame(frame))] == [0.0, 1.5]
    frame = {**PLAIN, "arrival": [1_700_000_000_000, 1_700_000_000_250]}
    assert lengths(Workload.from_frame(frame, unit="ms"))[1][0] == 0.25


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        ([1, 2], {}, "not a frame (found 'list'); expected a frame of pandas, polars or pyarrow"),
        ({**PLAIN, "output_len": [1]}, {}, "frame: columns of different lengths"),
        ({"arrival": [0]}, {}, "frame, field 'prompt_len': no such column (found 'arrival')"),
        (
            {**PLAIN, "prompt_len": [8, float("nan")]},
            {},
            "frame, row 1, field 'prompt_len': missing; expected an integer",
        ),
        (
            {**PLAIN, "arrival": [0, 1_700_000_000_000]},
            {},
            "frame, row 1, field 'arrival': cannot be used (found 1700000000000); expected seconds "
            "from 0 to 9000000000, or a date such as 2023-11-16T18:17:03Z; say unit=ms (then it "
            "is 2023-11-14 22:13:20), unit=us or unit=ns",
        ),
        (
            {**PLAIN, "arrival": [np.datetime64("2023-01-01T00:00:00"), 5]},
            {},
            "frame, row 1, field 'arrival': read as numbers in s (found 5); expected dates "
            "without a zone, taken as UTC, as before",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_row(
    frame: Any, columns: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        Workload.from_frame(frame, **columns)
    assert str(caught.value).startswith(message)


def test_misspelt_names_are_answered_with_the_right_ones() -> None:
    with pytest.raises(UnknownName, match="field of a request 'prompt_lens'; did you mean 'prompt"):
        Workload.from_frame(PLAIN, prompt_lens="x")
    with pytest.raises(UnknownName, match="frame: unknown column 'arival'; did you mean 'arrival'"):
        Workload.from_frame(PLAIN, arrival="arival")


@pytest.mark.parametrize(
    "spec",
    [
        RequestSpec("a", np.float32(0.5), np.int64(8), np.uint16(1), np.int8(-2)),  # type: ignore[arg-type]
        RequestSpec("a", np.float64(0.5), np.int32(8), 1, -2),  # type: ignore[arg-type]
    ],
)
def test_numpys_numbers_become_pythons(spec: RequestSpec) -> None:
    assert spec == RequestSpec("a", 0.5, 8, 1, -2)
    assert [type(value) for value in (spec.prompt_len, spec.output_len, spec.priority)] == [int] * 3
    assert isinstance(spec.arrival, float)


def test_so_do_those_of_prefixes() -> None:
    hashed = HashedPrefix(tuple(np.arange(2)), np.int64(16))  # type: ignore[arg-type]
    assert hashed == HashedPrefix((0, 1), 16)
    assert {type(item) for item in (*hashed.ids, hashed.block_size)} == {int}
    shared = SharedPrefix(np.int64(3), np.int64(4))  # type: ignore[arg-type]
    assert (type(shared.group), type(shared.len)) == (int, int)


def test_numpys_numbers_are_held_to_the_same_limits() -> None:
    with pytest.raises(InputError, match=r"field 'prompt_len': out of range \(found -1\)"):
        RequestSpec("a", 0.0, np.int64(-1), 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="field 'prompt_len': does not fit"):
        RequestSpec("a", 0.0, np.bool_(True), 1)  # type: ignore[arg-type]
