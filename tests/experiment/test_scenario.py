"""Scenario files: what they say, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sched_core import HashedPrefix, InputError, Scenario, SharedPrefix, UsageError, Workload
from sched_core.experiment.scenario import DEFAULT_WORKLOAD, load

Write = Callable[[str, Any], Path]
ROW = {"id": "R0", "arrival": 0.5, "prompt_len": 16, "output_len": 4}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(name, content) -> path; content that is no text becomes JSON."""

    def written(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return written


def listed(scenario: Scenario) -> list[Any]:
    assert isinstance(scenario.workload, Workload)
    return list(scenario.workload.requests)


TOML = """
policy = "priority:aging=30+adaptive"
hardware = "h100"
seed = 7
horizon = 60
[config]
max_num_seqs = 32
enable_prefix_caching = true
[goodput]
ttft = 500
[[requests]]
id = "R0"
arrival = 0.5
prompt_len = 16
output_len = 4
"""


def test_toml_and_json_say_the_same(write: Write) -> None:
    as_json = {
        "policy": "priority:aging=30+adaptive",
        "hardware": "h100",
        "seed": 7,
        "horizon": 60,
        "config": {"max_num_seqs": 32, "enable_prefix_caching": True},
        "goodput": {"ttft": 500},
        "requests": [ROW],
    }
    toml, same = load(write("a.toml", TOML)), load(write("a.json", as_json))
    assert (toml.policy, toml.hardware, toml.seed) == ("priority:aging=30+adaptive", "h100", 7)
    assert (toml.config.max_num_seqs, toml.config.enable_prefix_caching) == (32, True)
    assert (toml.horizon, toml.goodput) == (60.0, {"ttft": 500.0})
    for name in ("policy", "hardware", "model", "config", "seed", "horizon", "goodput"):
        assert getattr(toml, name) == getattr(same, name)
    assert listed(toml) == listed(same)


def test_the_defaults_need_no_file() -> None:
    scenario = load(None)
    names = (scenario.policy, scenario.hardware, scenario.model)
    assert names == ("schedfw/fcfs", "schedfw/a100", "llama-3.1-8b")
    assert (scenario.workload, scenario.seed, scenario.horizon) == (DEFAULT_WORKLOAD, 0, None)
    assert scenario == Scenario()


def test_options_override_the_file_key_by_key(write: Write) -> None:
    path = write("a.toml", TOML)
    options = {
        "policy": "sjf",
        "config": {"max_num_seqs": 8},
        "requests": {"workload": "closed:n=5"},
    }
    scenario = load(path, options)
    assert (scenario.policy, scenario.workload, scenario.hardware) == ("sjf", "closed:n=5", "h100")
    assert scenario.config.max_num_seqs == 8
    assert scenario.config.enable_prefix_caching is True


def test_the_policy_inside_config_is_honoured(write: Write) -> None:
    path = write("a.json", {"config": {"policy": "priority"}, "requests": [ROW]})
    assert load(path).policy == "priority"
    assert load(path, {"policy": "sjf"}).policy == "sjf"


def test_arrivals_in_steps_are_seconds_of_one_step_each(write: Write) -> None:
    row = {"id": "R0", "arrival_step": 3, "prompt_len": 16, "output_len": 4}
    path = write("a.json", {"requests": [row]})
    assert load(path).hardware == "schedfw/constant:step=1"
    assert listed(load(path))[0].arrival == 3.0
    assert load(path, {"hardware": "h100"}).hardware == "h100"
    assert load(path, {"requests": {"workload": "closed"}}).hardware == "schedfw/a100"


def test_every_key_of_a_request(write: Write) -> None:
    shared = ROW | {
        "priority": -2,
        "tenant": "t",
        "abort": 9,
        "shared_prefix": {"group": "g", "len": 8},
    }
    hashed = ROW | {"id": "R1", "hash_ids": [4, 7], "hash_block_size": 10}
    first, second = listed(load(write("a.json", {"requests": [shared, hashed]})))
    assert (first.id, first.arrival, first.prompt_len, first.output_len) == ("R0", 0.5, 16, 4)
    assert (first.priority, first.tenant, first.prefix) == (-2, "t", SharedPrefix("g", 8))
    assert (first.abort, second.abort) == (9.0, None)
    assert (second.priority, second.tenant) == (0, "default")
    assert second.prefix == HashedPrefix((4, 7), 10)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"polcy": "fcfs"}, r"unknown parameter 'polcy'; did you mean 'policy'\?"),
        ({"config": {"blok_size": 16}}, r"config: unknown parameter 'blok_size'.*'block_size'"),
        (
            {"config": {"block_size": "big"}},
            r"'block_size' does not fit \(found 'big'\).*an integer",
        ),
        ({"config": {"block_size": 0}}, r"field 'block_size': out of range \(found 0\)"),
        ({"config": {"max_num_seqs": 9, "max_num_batched_tokens": 8}}, "at least max_num_seqs = 9"),
        ({"config": [1]}, r"'config' does not fit \(found \[1\]\)"),
        ({"goodput": {"itl": 5}}, "unknown goodput metric 'itl'.*ttft"),
        ({"goodput": {"ttft": -1}}, r"goodput ttft.*found -1.*milliseconds >= 0"),
        (
            {"horizon": 0},
            r"field 'horizon': out of range \(found 0.0\); expected seconds from 1e-09",
        ),
        ({"seed": -1}, r"field 'seed': out of range \(found -1\)"),
        ({"seed": 1.5}, r"'seed' does not fit \(found 1.5\); expected an integer"),
        ({"requests": 3}, r"field 'requests': neither a list nor a workload \(found 3\)"),
        ({"requests": ["R0"]}, r"requests\[0\]: not a request \(found 'R0'\)"),
        (
            {"requests": [ROW, ROW | {"arival": 1}]},
            r"requests\[1\]: unknown column 'arival'",
        ),
        (
            {"requests": [ROW | {"arrival": float("nan")}]},
            r"requests\[0\].*'arrival'.*found nan.*a number",
        ),
        (
            {"requests": [ROW | {"arrival": -1}]},
            r"requests\[0\].*'arrival'.*found -1.0.*seconds from",
        ),
        ({"requests": [ROW | {"arrival_step": 1}]}, r"requests\[0\]: two arrivals"),
        ({"requests": [{"id": "a", "prompt_len": 1, "output_len": 1}]}, r"\[0\]: no arrival"),
        ({"requests": [{"id": "a", "arrival": 1}]}, r"requests\[0\]: parameter 'prompt_len' is"),
        ({"requests": [ROW | {"prompt_len": 1.5}]}, r"'prompt_len' does not fit \(found 1.5\)"),
        ({"requests": [ROW | {"shared_prefix": {"len": 3}}]}, r"shared_prefix: parameter 'group'"),
        (
            {"requests": [ROW | {"shared_prefix": {"group": 1, "len": -1}}]},
            r"shared_prefix: field 'len': out of range \(found -1\); expected an integer",
        ),
        ({"requests": [ROW | {"hash_ids": [1]}]}, r"field 'hash_block_size'.*expected tokens"),
        (
            {"requests": [ROW | {"hash_ids": [1], "hash_block_size": 8}]},
            r"'hash_ids': 1 ids; expected 2: prompt_len 16 in blocks of 8 tokens",
        ),
        ("{", "is not JSON: .*line 1"),
        ('{"seed": 1, "seed": 2}', "key 'seed' given twice"),
        ("[]", "is not a scenario; expected an object"),
    ],
)
def test_a_mistake_is_one_message_that_names_the_file(
    write: Write, content: Any, message: str
) -> None:
    path = write("bad.json", content)
    with pytest.raises(UsageError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_bad_toml(tmp_path: Path, write: Write) -> None:
    with pytest.raises(InputError, match=r"none\.json: cannot be read: No such file"):
        load(tmp_path / "none.json")
    with pytest.raises(InputError, match="is not TOML"):
        load(write("bad.toml", "seed = = 1"))
