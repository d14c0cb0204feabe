"""window, limit and time_scale, and that no row goes missing unseen."""

import pytest
from sched_plugins.workloads.traces.trace import parse_window

from sched_core import InputError

from ..conftest import Make, Write


@pytest.fixture
def path(write: Write) -> str:
    """Arrivals 100, 101, ..., 109 s, with prompt lengths 0..9."""
    rows = "".join(f"{100 + k},{k},1\n" for k in range(10))
    return str(write("v.csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n" + rows))


@pytest.mark.parametrize(
    ("options", "prompts", "arrivals"),
    [
        ("", list(range(10)), list(range(10))),
        ("limit=3", [0, 1, 2], [0, 1, 2]),
        ("limit=99", list(range(10)), list(range(10))),
        ("window=0..3", [0, 1, 2], [0, 1, 2]),
        ("window=3..6", [3, 4, 5], [0, 1, 2]),
        ("window=7.5..inf", [8, 9], [0, 1]),
        ("window=3..6:limit=2", [3, 4], [0, 1]),
        ("window=3..6:time_scale=2", [3, 4, 5], [0, 2, 4]),
        ("time_scale=0.25:limit=3", [0, 1, 2], [0, 0.25, 0.5]),
    ],
)
def test_what_is_kept(
    make: Make, path: str, options: str, prompts: list[int], arrivals: list[float]
) -> None:
    workload = make(f"vidur:path={path}:{options}" if options else f"vidur:path={path}")
    assert [r.prompt_len for r in workload.requests] == prompts
    assert [r.arrival for r in workload.requests] == arrivals
    left_out = sum(workload.dropped.values())
    assert workload.description["rows_read"] == len(workload.requests) + left_out == 10


def test_the_description_tells_the_setting(make: Make, path: str) -> None:
    assert make(f"vidur:path={path}:window=3..6:limit=2:time_scale=2").description == {
        "kind": "trace",
        "format": "vidur",
        "path": path,
        "rows_read": 10,
        "limit": 2,
        "window": "3..6",
        "time_scale": 2.0,
    }
    dropped = make(f"vidur:path={path}:window=3..6:limit=2").dropped
    assert dropped == {"outside the window": 7, "beyond the limit": 1}
    assert make(f"vidur:path={path}:window=0..99:limit=99").dropped == {}


def test_a_window_without_requests_says_what_was_left_out(make: Make, path: str) -> None:
    with pytest.raises(InputError, match=r"in 10 rows \(10 outside the window\)"):
        make(f"vidur:path={path}:window=600..1200")


def test_scaling_is_exact_to_the_nanosecond(write: Write, make: Make) -> None:
    text = "arrived_at,num_prefill_tokens,num_decode_tokens\n1.000000001,1,1\n2.000000004,1,1\n"
    request = make(f"vidur:time_scale=3:path={write('v.csv', text)}").requests[1]
    assert request.arrival == 3.000000009


def test_the_seed_changes_nothing(make: Make, path: str) -> None:
    assert make(f"vidur:path={path}", 1) == make(f"vidur:path={path}", 2)


@pytest.mark.parametrize("window", ["", "5", "5..", "..5", "6..3", "3..3", "-1..3", "nan..3",
                                    "0..nan", "inf..inf", "a..b", "0-600"])  # fmt: skip
def test_other_windows_are_refused(window: str) -> None:
    with pytest.raises(InputError, match=r"expected FROM\.\.TO"):
        parse_window(window)


@pytest.mark.parametrize(
    "option", ["limit=0", "limit=1.5", "time_scale=0", "time_scale=-1", "time_scale=inf",
               "time_scale=1e300", "time_scale=nan", "window=6..3"]
)  # fmt: skip
def test_other_options_are_refused(make: Make, path: str, option: str) -> None:
    with pytest.raises(InputError, match=r"^workload 'vidur': .*(expected|must be)"):
        make(f"vidur:path={path}:{option}")
