"""The reuse that `describe` counts is the reuse that a run has."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import schedfw
from hypothesis import given
from hypothesis import strategies as st

from sched_core import (
    EngineConfig,
    HashedPrefix,
    RequestSpec,
    Scenario,
    SharedPrefix,
    Workload,
    simulate,
)
from sched_core.workload.summary import summarize

from .conftest import Make, Write

LARGE = 4
"""Tokens in a hashed block; engine blocks are of 1, so that a run wastes nothing."""


@st.composite
def prefixes(draw: st.DrawFn, prompt_len: int) -> HashedPrefix | SharedPrefix | None:
    if draw(st.booleans()):
        ids = st.integers(0, 3)
        blocks = -(-prompt_len // LARGE)
        return HashedPrefix(tuple(draw(st.lists(ids, min_size=blocks, max_size=blocks))), LARGE)
    shared = SharedPrefix(draw(st.integers(0, 1)), draw(st.integers(0, prompt_len)))
    return draw(st.sampled_from((shared, None)))


@st.composite
def workloads(draw: st.DrawFn, gaps: Sequence[float]) -> Workload:
    """Few requests whose prompts begin alike; hash ids are drawn, so many are no chain."""
    arrival, specs = 0.0, []
    for number in range(draw(st.integers(1, 8))):
        arrival += draw(st.sampled_from(gaps))
        prompt_len = draw(st.integers(1, 14))
        prefix = draw(prefixes(prompt_len))
        specs.append(RequestSpec(f"r{number}", arrival, prompt_len, 2, prefix=prefix))
    return Workload(specs)


@st.composite
def conversations(draw: st.DrawFn) -> Workload:
    """Turns far apart, of which some go on from the answer before and some cut it."""
    specs: list[RequestSpec] = []
    for number in range(draw(st.integers(1, 3))):
        arrival, said = 1000.0 * number, 0
        shared = draw(st.sampled_from((None, SharedPrefix("s", 3), "hashed")))
        ids: list[int] = []
        for turn in range(draw(st.integers(1, 4))):
            prompt_len = max(1, said + draw(st.integers(-2, 6)))
            output_len = draw(st.integers(1, 6))
            prefix = shared if isinstance(shared, SharedPrefix) else None
            if shared == "hashed":
                blocks = -(-prompt_len // LARGE)
                while len(ids) < blocks or (draw(st.booleans()) and len(ids) < blocks + 1):
                    ids.append(100 * number + len(specs) * 10 + len(ids))
                prefix = HashedPrefix(tuple(ids[:blocks]), LARGE)
            name, position = f"c{number}", f"r{len(specs)}"
            specs.append(
                RequestSpec(
                    position, arrival, prompt_len, output_len, prefix=prefix, session=name,
                    turn=turn, think_time=50.0,
                )
            )  # fmt: skip
            said = prompt_len + output_len
    return Workload(draw(st.permutations(specs)))


def hit_rate(workload: Workload) -> float:
    """Of a run that never runs out of memory and always looks for a prefix."""
    config = EngineConfig(
        max_num_batched_tokens=64, block_size=1, num_gpu_blocks=500, enable_prefix_caching=True
    )
    scenario = Scenario(hardware="constant:step=1", model=None, workload=workload, config=config)
    (result,) = simulate(scenario).results
    rate: float = result.summary["prefix_hit_rate"]
    return rate


def promised(workload: Workload) -> float:
    share = summarize(workload)["repeated_prompt_share"]
    assert isinstance(share, float)
    return share


@given(workloads(gaps=(100.0,)))
def test_a_run_hits_what_is_promised_where_requests_do_not_overlap(workload: Workload) -> None:
    assert hit_rate(workload) == promised(workload)
    assert hit_rate(workload.with_chains()) == promised(workload.with_chains())


@given(conversations())
def test_a_conversation_finds_what_was_said_before_answers_included(workload: Workload) -> None:
    workload = workload.with_chains()
    assert hit_rate(workload) == promised(workload)


@given(workloads(gaps=(0.0, 0.5, 1.0, 100.0)))
def test_no_run_hits_more_than_is_promised(workload: Workload) -> None:
    assert hit_rate(workload) <= promised(workload)


def chains(*rows: Sequence[int]) -> Workload:
    specs = [
        RequestSpec(f"r{k}", 0.0, LARGE * len(ids), 1, prefix=HashedPrefix(tuple(ids), LARGE))
        for k, ids in enumerate(rows)
    ]
    return Workload(specs, description={"kind": "listed"})


def ids_of(workload: Workload) -> list[tuple[int, ...]]:
    return [r.prefix.ids for r in workload.requests if isinstance(r.prefix, HashedPrefix)]


def test_chains_stay_as_they_are() -> None:
    workload = chains([0, 1, 2], [0, 1, 3], [4])
    assert workload.with_chains() is workload


def test_an_id_after_a_second_prefix_is_another_block() -> None:
    workload = chains([0, 5, 6], [1, 5, 6], [0, 5], [1, 5], [5]).with_chains()
    assert ids_of(workload) == [(0, 5, 6), (1, 7, 8), (0, 5), (1, 7), (9,)]
    assert workload.description == {
        "kind": "listed",
        "hash_ids": "no chain: 5 and 1 more after several prefixes, each counted as another block",
    }


def test_an_id_that_follows_itself_is_no_chain() -> None:
    assert ids_of(chains([3, 3, 3], [3]).with_chains()) == [(3, 4, 5), (3,)]


def test_a_block_is_reused_as_far_as_it_was_filled() -> None:
    lengths = (5, 8, 12, 4)
    ids = ((0, 1), (0, 1), (0, 1, 2), (0,))
    specs = [
        RequestSpec(f"r{k}", 0.0, length, 1, prefix=HashedPrefix(row, LARGE))
        for k, (length, row) in enumerate(zip(lengths, ids, strict=True))
    ]
    assert promised(Workload(specs)) == (5 + 8 + 3) / 29  # of the last, all but its last token


def test_a_trace_and_a_scenario_file_both_say_so(write: Write, make: Make) -> None:
    rows = [
        {"timestamp": t, "input_length": 800, "output_length": 2, "hash_ids": [t, 50]}
        for t in (1, 2)
    ]
    path = write("m.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    workload = make(f"mooncake:path={path}")
    told = "no chain: 50 after several prefixes, each counted as another block"
    assert workload.description["hash_ids"] == told
    listed = [
        {
            "id": str(row["timestamp"]), "arrival": 0, "prompt_len": 800, "output_len": 2,
            "hash_ids": row["hash_ids"], "hash_block_size": 512,
        }
        for row in rows
    ]  # fmt: skip
    scenario = write("s.json", json.dumps({"requests": listed}))
    result = schedfw("run", scenario, "--enable-prefix-caching", "--format", "json")
    printed = json.loads(result.stdout)
    assert told in json.dumps(printed["setting"])
    assert printed["policies"][0]["summary"]["prefix_hit_rate"] == 0


def test_the_template_that_promised_reuse_no_run_had(shared: Path) -> None:
    spec = f"mooncake:path={shared / 'cases2' / 'O27-describe-against-run' / 'trace.jsonl'}"
    described = json.loads(schedfw("workloads", "describe", spec, "--format", "json").stdout)
    assert described["repeated_prompt_share"] == 0
    assert "3050" in described["setting"]["hash_ids"]
    options = ("--workload", spec, "--enable-prefix-caching", "--format", "json")
    report = json.loads(schedfw("run", *options).stdout)
    assert report["policies"][0]["summary"]["prefix_hit_rate"] == 0


@pytest.mark.parametrize("name", ["conversation_trace.first600s", "synthetic_trace.first400"])
def test_mooncakes_own_ids_are_chains(shared: Path, make: Make, name: str) -> None:
    workload = make(f"mooncake:path={shared / 'data' / 'mooncake' / name}.jsonl")
    assert "hash_ids" not in workload.description
