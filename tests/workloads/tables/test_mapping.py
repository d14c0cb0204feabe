"""Tables of others, by the names that the user gives for their columns."""

import json

import pytest

from sched_core import InputError, SharedPrefix, UnknownName

from ..conftest import Make, Write

HEADER = "start_time;input_tokens;output_tokens;user;model"
ROWS = ("1700158623979;820;210;chat;m", "1700158624379;95;340;;m")
SPEC = "arrival=start_time:prompt_len=input_tokens:output_len=output_tokens:tenant=user:sep=;"
GIVEN = {
    "arrival": "start_time", "prompt_len": "input_tokens", "output_len": "output_tokens",
    "tenant": "user", "unit": "ms",
}  # fmt: skip


def test_columns_unit_and_separator_are_named(write: Write, make: Make) -> None:
    path = write("x.csv", "\n".join((HEADER, *ROWS)))
    workload = make(f"csv:path={path}:{SPEC}:unit=ms")
    found = [(r.arrival, r.prompt_len, r.output_len, r.tenant) for r in workload.requests]
    assert found == [(0.0, 820, 210, "chat"), (0.4, 95, 340, "default")]
    assert workload.description == {
        "kind": "trace", "format": "csv", "path": str(path), "rows_read": 2, "limit": None,
        "window": None, "time_scale": 1.0, **GIVEN, "sep": ";",
        "stamps": "numbers in ms",
    }  # fmt: skip
    assert [request.extra for request in workload.requests] == [{"model": "m"}] * 2


def test_json_takes_the_same_names(write: Write, make: Make) -> None:
    names = HEADER.split(";")
    rows = [dict(zip(names, map(int, row.split(";")[:3]), strict=False)) for row in ROWS]
    spec = "arrival=start_time:prompt_len=input_tokens:output_len=output_tokens:unit=ms"
    for text in (json.dumps(rows, indent=1), "\n".join(map(json.dumps, rows))):
        workload = make(f"jsonl:path={write('x.json', text)}:{spec}")
        assert [(r.arrival, r.prompt_len) for r in workload.requests] == [(0.0, 820), (0.4, 95)]


def test_every_field_can_be_mapped(write: Write, make: Make) -> None:
    path = write("x.csv", "a\tb\tc\td\te\tf\tg\th\ti\n5\t9\t2\tn1\t-3\tt\tsys\t4\t7.5\n")
    fields = ["arrival", "prompt_len", "output_len", "id", "priority", "tenant"]
    fields += ["prefix_group", "prefix_len", "abort"]
    spec = ":".join(f"{field}={name}" for field, name in zip(fields, "abcdefghi", strict=True))
    (request,) = make(f"csv:path={path}:{spec}:sep=tab").requests
    assert (request.id, request.priority, request.tenant) == ("n1", -3, "t")
    assert request.prefix == SharedPrefix("sys", 4)
    assert request.abort == 2.5  # on the clock of arrivals, which starts at the first


def test_the_time_at_which_a_client_gives_up_needs_no_mapping(write: Write, make: Make) -> None:
    path = write("x.csv", "arrival,prompt_len,output_len,abort\n3,8,1,\n4,8,1,6\n")
    requests = make(f"csv:path={path}:time_scale=2").requests
    assert [(r.arrival, r.abort) for r in requests] == [(0.0, None), (2.0, 4.0)]


def test_names_of_our_own_stand_where_none_is_given(write: Write, make: Make) -> None:
    path = write("x.csv", "when,prompt_len,output_len,tenant\n0,8,1,a\n")
    (request,) = make(f"csv:path={path}:arrival=when").requests
    assert (request.prompt_len, request.tenant) == (8, "a")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("arrival=start", UnknownName, "x.csv, line 1: unknown column 'start'; did you mean 'star"),
        (
            "arrivals=start_time",
            UnknownName,
            "parameter 'arrivals'; did you mean 'arrival'",
        ),
        ("arrival=start_time", InputError, "line 1, field 'prompt_len': no such column"),
        ("arrival=", InputError, "parameter 'arrival'|field 'arrival': empty"),
        ("sep=;;", InputError, "parameter 'sep': no separator .found ';;'"),
        ("unit=minutes", InputError, "'unit' does not fit .found 'minutes'.; expected s or ms or"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(
    write: Write, make: Make, options: str, error: type[Exception], message: str
) -> None:
    path = write("x.csv", "\n".join((HEADER, *ROWS)))
    with pytest.raises(error, match=message):
        make(
            f"csv:path={path}:sep=;:{options}"
            if "sep" not in options
            else f"csv:path={path}:{options}"
        )


def test_another_separator_is_seen_and_what_to_write_is_said(write: Write, make: Make) -> None:
    for sign, name in ((";", ";"), ("\t", "tab"), ("|", "|")):
        path = write("x.csv", HEADER.replace(";", sign) + "\n")
        with pytest.raises(InputError) as caught:
            make(f"csv:path={path}")
        assert f"its cells are separated otherwise: csv:path=FILE:sep={name} (" in str(caught.value)


def test_further_columns_are_kept_numbers_where_all_of_a_column_are(
    write: Write, make: Make
) -> None:
    rows = "0,8,1,7,0.5,007,eu\n1,8,1,,2,8,\n"
    path = write("x.csv", f"arrival,prompt_len,output_len,score,ratio,zip,region\n{rows}")
    workload = make(f"csv:path={path}")
    assert [request.extra for request in workload.requests] == [
        {"score": 7, "ratio": 0.5, "zip": "007", "region": "eu"},
        {"score": None, "ratio": 2, "zip": "8", "region": None},
    ]


def test_a_slip_is_no_further_column_but_a_name_found_elsewhere_may_be(
    write: Write, make: Make
) -> None:
    path = write("x.csv", "arrival,prompt_length,input,output_len\n0,8,9,1\n")
    with pytest.raises(UnknownName, match=r"x.csv, line 1: unknown column 'prompt_length'"):
        make(f"csv:path={path}")
    (request,) = make(f"csv:path={path}:prompt_len=input").requests
    assert (request.prompt_len, request.extra) == (9, {"prompt_length": 8})


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_a_request_asks_for_is_read(write: Write, make: Make, kind: str) -> None:
    row = {
        "arrival": 5, "prompt_len": 8, "output_len": 1, "ttft_slo": 0.5, "tpot_slo": 0.05,
        "e2el_slo": 9, "deadline": 35, "weight": 2, "session": "s", "turn": 1, "think_time": 3,
        "ends_by": "stop",
    }  # fmt: skip
    text = json.dumps(row)
    if kind == "csv":
        text = f"{','.join(row)}\n{','.join(map(str, row.values()))}\n"
    (request,) = make(f"{kind}:path={write('x', text)}").requests
    asked = (request.ttft_slo, request.tpot_slo, request.e2el_slo, request.deadline)
    assert asked == (0.5, 0.05, 9.0, 30.0)
    others = (request.weight, request.session, request.turn, request.think_time, request.ends_by)
    assert others == (2.0, "s", 1, 3.0, "stop")


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("ttft_slo", "-1", "seconds from 0 to 9000000000"),
        ("weight", "0", "a number from 1e-09 to 1000000000"),
        ("turn", "0.5", "an integer from 0 to 2147483647"),
        ("turn", "1", "the session that it is a turn of"),
        ("ends_by", "eos", "max_tokens or stop"),
        ("deadline", "soon", "seconds from 0 to 9000000000, or a date"),
    ],
)
def test_what_it_asks_for_has_limits(
    write: Write, make: Make, column: str, cell: str, expected: str
) -> None:
    path = write("x.csv", f"arrival,prompt_len,output_len,{column}\n0,8,1,{cell}\n")
    field = "session" if expected.startswith("the session") else column
    with pytest.raises(InputError) as caught:
        make(f"csv:path={path}")
    assert f"x.csv, line 2, field '{field}': " in str(caught.value)
    assert f"; expected {expected}" in str(caught.value)
