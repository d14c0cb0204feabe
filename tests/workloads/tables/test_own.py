"""Our own columns, as CSV and as JSON lines, and every way a value can be wrong."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sched_core import InputError, RequestSpec, SharedPrefix, UnknownName, Workload

from ..conftest import Make, Write

FULL = {
    "id": "chat-1", "arrival": 0.5, "prompt_len": 100, "output_len": 8, "priority": -2,
    "tenant": "a", "prefix_group": "system", "prefix_len": 64,
}  # fmt: skip


def as_csv(rows: list[dict[str, Any]]) -> str:
    lines = [",".join(rows[0]), *(",".join(str(v) for v in row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


def as_jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(params=["csv", "jsonl"])
def read(request: pytest.FixtureRequest, write: Write, make: Make) -> Any:
    """read(rows, options) -> workload, once through CSV and once through JSON lines."""
    kind = request.param

    def read_rows(rows: list[dict[str, Any]], options: str = "") -> Workload:
        text = as_csv(rows) if kind == "csv" else as_jsonl(rows)
        return make(f"{kind}:path={write(f't.{kind}', text)}{options}")

    return read_rows


def minimal(*arrivals: object) -> list[dict[str, Any]]:
    return [{"arrival": a, "prompt_len": 8 + i, "output_len": 1} for i, a in enumerate(arrivals)]


def test_all_columns_arrive(read: Any) -> None:
    (request,) = read([FULL]).requests
    prefix = SharedPrefix("system", 64)
    assert request == RequestSpec("chat-1", 0.0, 100, 8, -2, "a", prefix)


def test_three_columns_suffice(read: Any) -> None:
    assert read(minimal(1, 1.25)).requests == [
        RequestSpec("r0", 0.0, 8, 1),
        RequestSpec("r1", 0.25, 9, 1),
    ]


def test_unsorted_rows_give_what_sorted_ones_give(read: Any) -> None:
    rows = minimal(2, 0, 1)
    unsorted, in_order = read(rows), read([rows[1], rows[2], rows[0]])
    assert unsorted.requests == in_order.requests
    order = "sorted by arrival: 2 rows stood behind a later one"
    assert unsorted.description == {**in_order.description, "order": order}
    assert [request.prompt_len for request in unsorted.requests] == [9, 10, 8]


def test_equal_arrivals_keep_the_order_of_the_file(read: Any) -> None:
    assert [r.prompt_len for r in read(minimal(1, 0, 1, 0)).requests] == [9, 11, 8, 10]


def test_lengths_of_zero_are_kept_for_the_engine_to_reject(read: Any) -> None:
    rows = [
        {"id": name, "arrival": 0, "prompt_len": prompt, "output_len": output}
        for name, prompt, output in (("a", 8, 1), ("b", 8, 0), ("c", 0, 4), ("d", 1, 1))
    ]
    workload = read(rows)
    assert [(r.id, r.prompt_len, r.output_len) for r in workload.requests] == [
        ("a", 8, 1), ("b", 8, 0), ("c", 0, 4), ("d", 1, 1),
    ]  # fmt: skip
    assert workload.dropped == {}


@pytest.mark.parametrize("arrival", ["nan", "-0.5", "inf", "-inf", "", "x", "1e99", "1_0", "0x1"])
def test_broken_arrivals_in_csv(write: Write, make: Make, arrival: str) -> None:
    path = write("t.csv", f"arrival,prompt_len,output_len\n0,8,1\n{arrival},8,1\n")
    with pytest.raises(InputError) as caught:
        make(f"csv:path={path}")
    assert "t.csv, line 3, field 'arrival': " in str(caught.value)
    assert f"(found {arrival!r}); expected seconds" in str(caught.value)


@pytest.mark.parametrize(
    "arrival", ["NaN", "-0.5", "Infinity", "-Infinity", "null", '"1"', "true", "[]", "1e99", '""']
)
def test_broken_arrivals_in_jsonl(write: Write, make: Make, arrival: str) -> None:
    row = '{"arrival": %s, "prompt_len": 8, "output_len": 1}\n'
    path = write("t.jsonl", row % "0" + row % arrival)
    with pytest.raises(InputError, match=r"t\.jsonl, line 2, field 'arrival': .*; expected sec"):
        make(f"jsonl:path={path}")


@pytest.mark.parametrize("field", ["prompt_len", "output_len", "prefix_len"])
@pytest.mark.parametrize("length", [-1, 1.5, "many", 2**31, 10**400])
def test_broken_lengths(read: Any, field: str, length: object) -> None:
    with pytest.raises(InputError, match=rf"line \d, field '{field}'.*expected an integer"):
        read([{**FULL, field: length}])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prefix_len": 101}, "field 'prefix_len'.*at most prompt_len = 100"),
        ({"prefix_group": ""}, "field 'prefix_group': missing"),
        ({"prefix_len": ""}, "field 'prefix_len': missing"),
        ({"priority": 0.5}, "field 'priority'.*an integer"),
        ({"priority": "high"}, "field 'priority'.*an integer"),
    ],
)
def test_columns_that_contradict_each_other(
    read: Any, change: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read([{**FULL, **change}])


def test_optional_cells_may_be_empty(read: Any) -> None:
    empty = {"id": "", "priority": "", "tenant": "", "prefix_group": "", "prefix_len": ""}
    assert read([{**FULL, **empty}]).requests == [RequestSpec("r0", 0.0, 100, 8)]


def test_ids_are_unique_and_everywhere_or_nowhere(read: Any) -> None:
    with pytest.raises(InputError, match=r"line \d, field 'id'.*line \d has this one"):
        read([FULL, FULL])
    with pytest.raises(InputError, match=r"field 'id'.*in every row, or in none"):
        read([FULL, {**FULL, "id": ""}])
    with pytest.raises(InputError, match=r"field 'id'.*in every row, or in none"):
        read([{**FULL, "id": ""}, FULL])


def test_a_misspelt_column_is_answered_with_the_right_one(read: Any) -> None:
    with pytest.raises(UnknownName, match="'tenent'; did you mean 'tenant'"):
        read([{**minimal(0)[0], "tenent": "a"}])
    with pytest.raises(UnknownName, match="'arival'; did you mean 'arrival'"):
        read([{"arival": 0, "prompt_len": 8, "output_len": 1}])


def test_a_key_misspelt_in_a_later_row_is_found(write: Write, make: Make) -> None:
    path = write("t.jsonl", as_jsonl([minimal(0)[0], {**minimal(1)[0], "prioritty": 1}]))
    with pytest.raises(UnknownName, match=r"t\.jsonl, line 2: .*'priority'"):
        make(f"jsonl:path={path}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 10**15), st.integers(0, 10**6), st.integers(0, 10**6)),
        min_size=1,
        max_size=30,
    )
)
def test_every_nanosecond_survives(read: Any, rows: list[tuple[int, int, int]]) -> None:
    """Differences are those of the integers, which floats of 1e6 s with 9 digits would blur."""
    written = [
        {"arrival": float(f"{ns}e-9"), "prompt_len": prompt, "output_len": output}
        for ns, prompt, output in rows
    ]
    in_order = sorted(rows, key=lambda row: row[0])
    start = in_order[0][0]
    assert [(r.arrival, r.prompt_len, r.output_len) for r in read(written).requests] == [
        ((ns - start) / 10**9, prompt, output) for ns, prompt, output in in_order
    ]
