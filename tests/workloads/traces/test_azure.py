"""Azure's stamps, to the last digit."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sched_core import InputError
from sched_core.tables import date

from ..conftest import Make, Write

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"


def test_crlf_seven_digits_and_no_newline_at_the_end(write: Write, make: Make) -> None:
    path = write(
        "a.csv",
        f"{HEADER}\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319601,3180,8",
    )
    first, second = make(f"azure:path={path}").requests
    assert (first.id, first.arrival, first.prompt_len, first.output_len) == ("r0", 0.0, 4808, 10)
    assert (second.id, second.arrival, second.prompt_len) == ("r1", 0.0520001, 3180)


def test_milliseconds_survive(write: Write, make: Make) -> None:
    """inference-perf PR 782: fractions cut to two digits made these 0, 0, 0 and 10 ms."""
    rows = "".join(f"\n2023-11-16 18:17:03.{ms:03}0000,8,1" for ms in (1, 2, 9, 11))
    requests = make(f"azure:path={write('a.csv', HEADER + rows)}").requests
    assert [request.arrival for request in requests] == [0.0, 0.001, 0.008, 0.010]


def test_2024_stamps_have_a_zone_and_six_digits_or_none(write: Write, make: Make) -> None:
    path = write(
        "a.csv",
        f"{HEADER}\n2024-05-10 00:00:00.009930+00:00,2162,5\n"
        "2024-05-10 00:00:01+00:00,2399,6\n2024-05-10 02:00:01.5+02:00,76,15\n",
    )
    requests = make(f"azure:path={path}").requests
    assert [request.arrival for request in requests] == [0.0, 0.990070, 1.490070]


def test_midnight_is_an_ordinary_moment(write: Write, make: Make) -> None:
    path = write("a.csv", f"{HEADER}\n2023-12-31 23:59:59.5,1,1\n2024-01-01 00:00:00.25,1,1\n")
    assert make(f"azure:path={path}").requests[1].arrival == 0.75


@given(
    moment=st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)),
    tenths=st.integers(0, 9),
)
def test_every_100_ns_counts(moment: datetime, tenths: int) -> None:
    text = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond:06}{tenths}"
    since = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )
    assert date(text).ns == since * 1000 + tenths * 100


@pytest.mark.parametrize(
    "stamp",
    [
        "", "nan", "0", "2023-11-16", "2023-11-16 18:17", "2023-13-16 18:17:03",
        "2023-11-16 25:17:03", "2023-11-16 18:17:03.", "2023-11-16 18:17:03,5",
        "16/11/2023 18:17:03", "2023-11-16 18:17:03+99:00",
    ],
)  # fmt: skip
def test_no_stamp_no_simulation(write: Write, make: Make, stamp: str) -> None:
    path = write("a.csv", f'{HEADER}\n2023-11-16 18:17:03.97,8,1\n"{stamp}",8,1\n')
    with pytest.raises(InputError, match=r"a\.csv, line 3, field 'TIMESTAMP'.*YYYY-MM-DD"):
        make(f"azure:path={path}")
