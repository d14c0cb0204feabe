"""Points in time: units and dates, and nothing guessed that could be wrong."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sched_core import InputError
from sched_core.tables import date, since_1970

from ..conftest import Make, Write

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def table(*arrivals: object) -> str:
    return "arrival,prompt_len,output_len\n" + "".join(f"{a},8,1\n" for a in arrivals)


@pytest.mark.parametrize(
    ("unit", "first", "second"),
    [
        ("s", "1700158623.979", "1700158624.479"),
        ("ms", "1700158623979", "1700158624479"),
        ("us", "1700158623979000", "1700158624479000"),
        ("ns", "1700158623979000000", "1700158624479000000"),
        ("ms", "0.25", "500.25"),
    ],
)
def test_units_are_asked_for(write: Write, make: Make, unit: str, first: str, second: str) -> None:
    workload = make(f"csv:path={write('t.csv', table(first, second))}:unit={unit}")
    assert [request.arrival for request in workload.requests] == [0.0, 0.5]


@pytest.mark.parametrize(
    ("stamps", "told"),
    [
        (("1700158623979000000", "1700158624479000000"), "numbers in ns"),
        (("2023-11-16T18:17:03.979Z", "2023-11-16 20:17:04.479+02:00"), "dates"),
        (("2023-11-16 18:17:03 UTC", "2023-11-16T18:17:03.5+0000"), "dates"),
        (
            ("2023-11-16 18:17:03.979", "2023-11-16 18:17:04.479"),
            "dates without a zone, taken as UTC",
        ),
    ],
)
def test_what_can_be_one_thing_only_is_told_and_said(
    write: Write, make: Make, stamps: tuple[str, str], told: str
) -> None:
    """No number of microseconds is as large as one of nanoseconds since 1970."""
    workload = make(f"csv:path={write('t.csv', table(*stamps))}")
    assert [request.arrival for request in workload.requests] == [0.0, 0.5]
    assert workload.description["stamps"] == told


def test_seconds_since_1970_need_no_unit(write: Write, make: Make) -> None:
    workload = make(f"csv:path={write('t.csv', table('1700158623.979', '1700158624'))}")
    assert [request.arrival for request in workload.requests] == [0.0, 0.021]
    assert "stamps" not in workload.description


@pytest.mark.parametrize(
    ("stamp", "advice"),
    [
        ("1700158623979", "say unit=ms (then it is 2023-11-16 18:17:03), unit=us or unit=ns"),
        ("1700158623979000", "say unit=us (then it is 2023-11-16 18:17:03), unit=ms or unit=ns"),
    ],
)
def test_milliseconds_may_be_nanoseconds_of_a_short_run_so_one_has_to_say(
    write: Write, make: Make, stamp: str, advice: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"csv:path={write('t.csv', table(stamp))}")
    assert f"t.csv, line 2, field 'arrival': cannot be used (found '{stamp}')" in str(caught.value)
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    ("stamps", "problem"),
    [
        (("2023-11-16T18:17:03Z", "2023-11-16T18:17:04"), "read as dates without a zone"),
        (("5", "2023-11-16T18:17:04Z"), "read as dates (found"),
        (("2023-11-16T18:17:03Z", "5"), "read as numbers in s"),
        (("5", "1700158623979000000"), "read as numbers in ns"),
    ],
)
def test_stamps_of_one_file_are_written_alike(
    write: Write, make: Make, stamps: tuple[str, str], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"csv:path={write('t.csv', table(*stamps))}")
    assert f"t.csv, line 3, field 'arrival': {problem}" in str(caught.value)
    assert str(caught.value).endswith(", as before")


def test_a_unit_takes_no_dates(write: Write, make: Make) -> None:
    with pytest.raises(InputError, match=r"expected milliseconds from 0 to 9000000000000$"):
        make(f"csv:path={write('t.csv', table('2023-11-16T18:17:03Z'))}:unit=ms")


@given(
    moment=st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)),
    unit=st.sampled_from((1, 10**3, 10**6, 10**9)),
)
def test_a_number_since_1970_has_one_unit_that_makes_it_a_date_of_this_century(
    moment: datetime, unit: int
) -> None:
    seconds = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(seconds=1)
    assert since_1970(Decimal(seconds * unit)).ns == seconds * 10**9


@pytest.mark.parametrize("value", ["0", "9e8", "5e9", "NaN", "1e30"])
def test_other_numbers_are_no_dates(value: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        since_1970(Decimal(value))


def test_a_date_keeps_nine_digits() -> None:
    assert date("1970-01-01 00:00:01.123456789Z").ns == 1_123_456_789


def test_azures_copies_hold_numbers_and_the_setting_says_so(write: Write, make: Make) -> None:
    rows = "1700158623979,4808,10\n1700158624031,3180,8\n"
    path = write("a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n" + rows)
    workload = make(f"trace:path={path}")
    assert [request.arrival for request in workload.requests] == [0.0, 0.052]
    assert workload.description["stamps"] == "numbers in ms since 1970, told by their size"
