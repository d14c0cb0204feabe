"""Mooncake: milliseconds, hash blocks, batches."""

import json

import pytest

from sched_core import HashedPrefix, InputError, UnknownName

from ..conftest import Make, Write


def line(timestamp: object, length: int = 700, ids: object = (0, 1), **more: object) -> str:
    row = {"timestamp": timestamp, "input_length": length, "output_length": 5, "hash_ids": ids}
    return json.dumps({**row, **more}) + "\n"


def test_stamps_are_milliseconds_and_ids_a_prefix(write: Write, make: Make) -> None:
    path = write("m.jsonl", line(27000) + line(30001, 1024, [0, 7]))
    first, second = make(f"mooncake:path={path}").requests
    assert (first.arrival, second.arrival) == (0.0, 3.001)
    assert second.prefix == HashedPrefix((0, 7), 512)
    assert (second.prompt_len, second.output_len) == (1024, 5)


def test_fractions_of_milliseconds_count_as_dynamo_and_aiperf_write_them(
    write: Write, make: Make
) -> None:
    path = write("m.jsonl", line(0.0) + line(27.5) + line(27.500001))
    assert [r.arrival for r in make(f"mooncake:path={path}").requests] == [0, 0.0275, 0.027500001]


def test_rows_without_hash_ids_share_nothing(write: Write, make: Make) -> None:
    bare = {"timestamp": 0, "input_length": 1500, "output_length": 1}
    path = write("m.jsonl", line(0) + json.dumps(bare) + "\n" + line(0))
    assert [r.prefix is None for r in make(f"mooncake:path={path}").requests] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(("length", "ids"), [(512, [1]), (513, [1, 2]), (1, [1]), (0, [])])
def test_the_last_block_may_be_partly_full(
    write: Write, make: Make, length: int, ids: list[int]
) -> None:
    assert make(f"mooncake:path={write('m.jsonl', line(0, length, ids))}").requests


@pytest.mark.parametrize(("size", "length"), [(16, 512), (512, 513), (512, 0), (1024, 2049)])
def test_a_wrong_block_size_is_refused(write: Write, make: Make, size: int, length: int) -> None:
    path = write("m.jsonl", line(0) .replace("700", str(size)).replace("[0, 1]", "[0]")
                 + line(1, length, [0]))  # fmt: skip
    with pytest.raises(InputError, match=f"line 2, field 'hash_ids'.*hash_block_size={size}"):
        make(f"mooncake:hash_block_size={size}:path={path}")


def test_another_block_size_is_read_when_it_is_told(write: Write, make: Make) -> None:
    path = write("m.jsonl", line(0, 33, [0, 1, 2]))
    (request,) = make(f"mooncake:hash_block_size=16:path={path}").requests
    assert request.prefix == HashedPrefix((0, 1, 2), 16)


def test_batches_stay_together_in_file_order_unless_asked(write: Write, make: Make) -> None:
    rows = "".join(line(3000, 600 + k) for k in range(3)) + line(6000)
    requests = make(f"mooncake:path={write('m.jsonl', rows)}").requests
    assert [r.arrival for r in requests] == [0.0, 0.0, 0.0, 3.0]
    assert [r.prompt_len for r in requests] == [600, 601, 602, 700]


def test_spread_spaces_a_batch_evenly_and_says_so(write: Write, make: Make) -> None:
    rows = "".join(line(3000, 600 + k) for k in range(3)) + line(6000) + line(6000)
    workload = make(f"mooncake:spread=3:path={write('m.jsonl', rows)}")
    assert [r.arrival for r in workload.requests] == [0.0, 1.0, 2.0, 3.0, 4.5]
    assert [r.prompt_len for r in workload.requests] == [600, 601, 602, 700, 700]
    assert workload.description["spread"] == 3.0


@pytest.mark.parametrize("spread", ["-1", "inf", "nan", "1e9"])
def test_a_spread_without_sense_is_refused(make: Make, spread: str) -> None:
    with pytest.raises(InputError, match="spread"):
        make(f"mooncake:path=x:spread={spread}")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (line("82"), "timestamp"),
        (line(-1), "timestamp"),
        (line(None), "timestamp"),
        (line(True), "timestamp"),
        (line(float("nan")), "timestamp"),
        (line(float("inf")), "timestamp"),
        (line(0, ids={"sys_prompt": [1]}), "hash_ids"),
        (line(0, ids=["0", "1"]), "hash_ids"),
        (line(0, ids=[0, True]), "hash_ids"),
        ('{"timestamp": 0, "output_length": 1, "hash_ids": []}\n', "input_length"),
    ],
)
def test_a_bad_value_is_named_with_its_line(write: Write, make: Make, row: str, field: str) -> None:
    path = write("m.jsonl", line(0) + "\n" + row)
    with pytest.raises(InputError, match=rf"m\.jsonl, line 3, field '{field}'.*expected"):
        make(f"mooncake:path={path}")


def test_keys_of_other_formats_are_not_ignored(write: Write, make: Make) -> None:
    path = write("m.jsonl", line(0) + line(1, delay=5))
    with pytest.raises(UnknownName, match=r"m\.jsonl, line 2: unknown column 'delay'"):
        make(f"mooncake:path={path}")


@pytest.mark.parametrize("rest", ["{", "[1]\n", "7\n", '{"timestamp": 1e}\n', "[" * 100_000])
def test_what_is_no_json_object_is_refused(write: Write, make: Make, rest: str) -> None:
    path = write("m.jsonl", line(0) + rest)
    with pytest.raises(InputError, match=r"m\.jsonl, line 2: .*one whole JSON object on each"):
        make(f"mooncake:path={path}")
