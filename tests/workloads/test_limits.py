"""Numbers that are too large for the engine are refused where they stand."""

import pytest

from sched_core import InputError

from .conftest import Make, Write

OWN = "arrival,prompt_len,output_len\n0,8,1\n"


def test_a_stamp_beyond_64_bits_of_nanoseconds(write: Write, make: Make) -> None:
    path = write("t.csv", OWN + "9.9e9,8,1\n")
    with pytest.raises(InputError, match=r"t.csv, line 3, field 'arrival': .*'9.9e9'.*9000000000"):
        make(f"csv:path={path}")
    row = '{"timestamp": %d, "input_length": 8, "output_length": 1, "hash_ids": [1]}\n'
    path = write("t.jsonl", row % 0 + row % (9_001 * 10**9))
    with pytest.raises(InputError, match=r"t.jsonl, line 2, field 'timestamp'.*9000000000000"):
        make(f"mooncake:path={path}")


def test_the_latest_stamp_arrives(write: Write, make: Make) -> None:
    path = write("t.csv", OWN + "9e9,8,1\n")
    assert make(f"csv:path={path}").requests[-1].arrival == 9e9


def test_a_trace_that_is_too_long(write: Write, make: Make) -> None:
    path = write("t.csv", OWN + "9e9,8,1\n")
    with pytest.raises(InputError, match=r"t.csv, field 'time_scale': .*9e\+09 s after .* times 2"):
        make(f"csv:path={path}:time_scale=2")
    stamps = "".join(f"{year}-01-01 00:00:00,8,1\n" for year in (2023, 2400))
    path = write("a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n" + stamps)
    with pytest.raises(InputError, match=r"a.csv, .* s after the first"):
        make(f"azure:path={path}")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("csv:path=", "field 'path': empty"),
        ("trace:path=", "field 'path': empty"),
        ("poisson:request_rate=1e-6:n=100000", "'request_rate': .* 100000 requests would arrive"),
        ("poisson:n=100000000", "'n': out of range .*from 1 to 10000000"),
        ("poisson:tenants=a@1e308,b@1e308", "'tenants': out of range .*a weight: a number"),
        ("poisson:prompt_len=lognormal,600,1e200", "'prompt_len': 1e200 is out of range"),
        ("poisson:prefix_len=1000000000:num_prefixes=1", "'prefix_len': out of range"),
        ("closed:max_concurrency=0", "'max_concurrency': out of range"),
    ],
)
def test_what_a_spec_may_not_say(make: Make, spec: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"^workload .*{message}") as caught:
        make(spec)
    assert "; expected " in str(caught.value)
