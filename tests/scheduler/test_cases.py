"""Faults seen in public projects, with the right outcome: O01 to O20, exactly.

O13 (tokens of a real model) needs the torch executor; O19 is an installed-package test.
"""

import itertools

import pytest
from harness import Seen, Served, requests, serve

from sched_core import EngineConfig, InputError, RequestSpec, SharedPrefix
from sched_core.execution.step_record import StepRecord
from sched_core.memory.kv_cache import KVCache
from sched_core.request import Request


def tokens_computed(served: Served) -> int:
    return sum(sum(line["scheduled"].values()) for line in served.lines)


def step_starts(served: Served, name: str) -> list[float]:
    return [line["time"] for line in served.lines if name in line["scheduled"]]


def test_o01_a_request_that_can_never_fit() -> None:
    served = serve("R0(100,1,@0) R1(16,2,@0)", num_gpu_blocks=4)
    assert served.rows["R0"]["state"] == "rejected"
    assert served.rows["R0"]["reason"] == "needs 7 KV blocks > the pool's 4"
    assert served.lines[0]["rejected"] == {"R0": "needs 7 KV blocks > the pool's 4"}
    assert served.finish("R1") == 2.0
    assert len(served.lines) == 2
    assert tokens_computed(served) == 17


O02 = "R0(32,32,@0) R1(32,32,@0)"


def test_o02_two_that_fit_alone_but_not_together() -> None:
    served = serve(O02, num_gpu_blocks=6)
    assert served.rows["R0"]["preemptions"] == 0
    assert served.finish("R0") == 32.0
    assert served.at(17.0)["preempted"] == ["R1"]
    assert served.rows["R1"]["preemptions"] == 1
    assert served.rows["R1"]["recomputed_tokens"] == 48
    assert served.finish("R1") == 47.0
    assert (len(served.lines), tokens_computed(served)) == (47, 174)
    assert served.engine.recorder.peak_blocks == 6


def test_o03_the_victim_is_still_in_the_loop() -> None:
    served = serve(
        "A(24,2,@0) B(8,3,@0) C(8,3,@0) D(8,3,@0)",
        "fcfs+chunk:size=8",
        block_size=4,
        num_gpu_blocks=8,
        max_num_batched_tokens=64,
    )
    first, second = served.at(1.0), served.at(2.0)
    assert first["scheduled"] == {"A": 8, "B": 1}
    assert first["preempted"] == ["D", "C"]
    assert first["waiting"] == ["C", "D"]
    assert second["scheduled"] == {"A": 8}
    assert second["preempted"] == ["B"]
    assert served.finish("A") == 4.0
    assert served.rows["A"]["preemptions"] == 0
    for line in served.lines:
        assert not set(line["scheduled"]) & set(line["preempted"])
    assert max(served.finishes.values()) == 9.0
    recorder = served.engine.recorder
    assert (recorder.preemptions, recorder.recomputed_tokens, tokens_computed(served)) == (
        4,
        33,
        88,
    )


def test_o04_the_victim_already_had_a_share_of_this_step() -> None:
    served = serve(
        "LOW(40,2,@0,9) HI(4,8,@1,0) PRE(24,1,@2,5)",
        "priority+chunk:size=4",
        block_size=4,
        num_gpu_blocks=12,
        max_num_batched_tokens=8,
    )
    step = served.at(6.0)
    assert step["scheduled"] == {"HI": 1, "PRE": 4}
    assert step["preempted"] == ["LOW"]
    assert served.finishes == {"HI": 9.0, "PRE": 9.0, "LOW": 20.0}
    assert served.rows["LOW"]["recomputed_tokens"] == 24
    assert tokens_computed(served) == 100


@pytest.mark.parametrize("host", [0, 2])
def test_o05_swap_space_too_small_falls_back_to_recompute(host: int) -> None:
    served = serve(O02, "fcfs+swap", num_gpu_blocks=6, num_cpu_blocks=host)
    assert served.finishes == {"R0": 32.0, "R1": 47.0}
    assert (tokens_computed(served), served.engine.recorder.swap_outs) == (174, 0)


def test_o05_swap_space_just_enough() -> None:
    served = serve(O02, "fcfs+swap", num_gpu_blocks=6, num_cpu_blocks=3)
    recorder = served.engine.recorder
    assert (recorder.swap_outs, recorder.swap_ins, recorder.recomputed_tokens) == (1, 1, 0)
    assert tokens_computed(served) == 126
    assert served.finish("R1") == 47.0
    assert served.engine.state.kv.free_host_blocks == 3


def test_o06_a_failed_allocation_changes_nothing() -> None:
    kv = KVCache(4, 4, caching=True)
    request = Request(RequestSpec("R0", 0.0, 20, 1), 0, 0)
    assert kv.grow(request, 12)
    held, free = list(request.blocks), kv.free_blocks
    assert not kv.grow(request, 20)
    assert (request.blocks, kv.free_blocks) == (held, free) == (held, 1)
    assert kv.grow(request, 16)
    assert kv.free_blocks == 0
    request.computed = 16
    kv.release(request)
    assert (kv.free_blocks, request.blocks) == (4, [])
    kv.release(request)
    assert kv.free_blocks == 4


def test_o07_chunk_not_a_multiple_of_the_block_size() -> None:
    kv = KVCache(8, 4)
    request = Request(RequestSpec("R", 0.0, 8, 1), 0, 0)
    assert kv.grow(request, 3)
    assert len(request.blocks) == 1
    assert kv.grow(request, 8)
    assert len(request.blocks) == 2
    served = serve("R(37,1,@0)", "fcfs+chunk:size=5", num_gpu_blocks=3)
    assert (served.finish("R"), len(served.lines)) == (8.0, 8)
    assert (served.engine.recorder.peak_blocks, served.rows["R"]["preemptions"]) == (3, 0)


def test_o08_whole_prompt_already_cached() -> None:
    specs = [
        RequestSpec("R0", 0.0, 32, 1, prefix=SharedPrefix(1, 32)),
        RequestSpec("R1", 1.0, 32, 1, prefix=SharedPrefix(1, 32)),
        RequestSpec("R2", 2.0, 33, 1, prefix=SharedPrefix(1, 32)),
    ]
    served = serve(specs, num_gpu_blocks=10, enable_prefix_caching=True)
    assert (served.at(1.0)["admitted"], served.at(1.0)["scheduled"]) == ({"R1": 16}, {"R1": 16})
    assert (served.at(2.0)["admitted"], served.at(2.0)["scheduled"]) == ({"R2": 32}, {"R2": 1})
    assert served.finish("R1") == 2.0


def test_o09_shared_blocks_and_reference_counts() -> None:
    specs = [
        RequestSpec("R0", 0.0, 32, 4, prefix=SharedPrefix(1, 32)),
        RequestSpec("R1", 1.0, 40, 10, prefix=SharedPrefix(1, 32)),
    ]
    used: dict[float, int] = {}

    def see(record: StepRecord) -> None:
        used[record.plan.time_ns / 1e9] = 5 - record.free_blocks

    served = serve(specs, num_gpu_blocks=5, enable_prefix_caching=True, watcher=Seen(see))
    assert used[1.0] == 4
    assert used[3.0] == 3
    assert (served.finish("R0"), served.finish("R1")) == (4.0, 11.0)
    assert served.engine.recorder.preemptions == 0
    assert served.engine.state.kv.free_blocks == 5


O10 = "A(96,20,@0) BIG(128,4,@1) S1(16,1,@2) S2(16,1,@2)"


def test_o10_a_huge_request_at_the_head_blocks() -> None:
    served = serve(O10, num_gpu_blocks=10, max_num_batched_tokens=512)
    assert [served.first_scheduled(name) for name in ("BIG", "S1", "S2")] == [20.0] * 3
    assert served.finishes == {"A": 20.0, "BIG": 24.0, "S1": 21.0, "S2": 21.0}
    assert (tokens_computed(served), served.engine.recorder.preemptions) == (278, 0)


def test_o10_skip_ahead_lets_small_ones_pass() -> None:
    served = serve(O10, "skip-ahead", num_gpu_blocks=10, max_num_batched_tokens=512)
    assert [served.first_scheduled(name) for name in ("S1", "S2", "BIG")] == [2.0, 2.0, 20.0]
    assert served.finishes == {"A": 20.0, "BIG": 24.0, "S1": 3.0, "S2": 3.0}
    assert (tokens_computed(served), served.engine.recorder.preemptions) == (278, 0)


def test_o10_by_passes_are_bounded() -> None:
    small = " ".join(f"S{i}(16,1,@{i})" for i in range(2, 12))
    served = serve(
        f"A(96,20,@0) BIG(128,4,@1) {small}",
        "skip-ahead:max_bypasses=3",
        num_gpu_blocks=10,
        max_num_batched_tokens=512,
    )
    passed = [n for n in served.rows if n[0] == "S" and served.first_scheduled(n) < 20.0]
    assert passed == ["S2", "S3", "S4"]
    assert served.first_scheduled("BIG") == 20.0


def test_o11_budget_smaller_than_the_prompt() -> None:
    specs = "R0(65,4,@0) R1(10,2,@0) R2(64,1,@0)"
    served = serve(specs, max_num_batched_tokens=64, enable_chunked_prefill=False)
    assert served.rows["R0"]["state"] == "rejected"
    assert "65" in served.rows["R0"]["reason"]
    assert "64" in served.rows["R0"]["reason"]
    assert served.finish("R1") == 2.0
    assert (served.first_scheduled("R2"), served.finish("R2")) == (2.0, 3.0)
    assert tokens_computed(served) == 75
    chunked = serve(specs, max_num_batched_tokens=64)
    assert chunked.finishes == {"R0": 5.0, "R1": 3.0, "R2": 3.0}


def test_o11_a_configuration_that_cannot_work_is_refused() -> None:
    with pytest.raises(InputError, match=r"max_num_batched_tokens.*64.*max_model_len = 65"):
        EngineConfig(max_num_batched_tokens=64, max_model_len=65, enable_chunked_prefill=False)


def test_o12_equal_priority_equal_arrival() -> None:
    served = serve("b(4,2,@0,0) a(4,2,@0,0) c(4,2,@0,0)", "priority", max_num_seqs=1)
    assert served.finishes == {"b": 2.0, "a": 4.0, "c": 6.0}


def steady_stream(count: int) -> str:
    return "LOW(4,1,@0,10) " + " ".join(f"h{i}(4,1,@{i},0)" for i in range(count))


def test_o14_aging_ends_starvation_at_a_known_time() -> None:
    aged = serve(steady_stream(80), "priority-aging:period=5", max_num_seqs=1)
    assert (aged.first_scheduled("LOW"), aged.finish("LOW")) == (50.0, 51.0)
    assert serve(steady_stream(80), "priority", max_num_seqs=1).first_scheduled("LOW") == 80.0


def test_o15_prefill_must_not_stop_decode() -> None:
    long = " ".join(f"L{i}(64,1,@{1 + i})" for i in range(6))
    served = serve(f"D(8,12,@0) {long}", num_gpu_blocks=1000, max_num_batched_tokens=16)
    assert step_starts(served, "D") == [float(t) for t in range(12)]
    assert max(sum(line["scheduled"].values()) for line in served.lines) == 16
    assert [served.finish(f"L{i}") for i in range(6)] == [6.0, 10.0, 14.0, 18.0, 22.0, 26.0]


def test_o16_shortest_lengths() -> None:
    served = serve("a(8,1,@0) b(8,0,@0) c(0,4,@0) d(1,1,@0)")
    assert {name: row["state"] for name, row in served.rows.items()} == {
        **dict.fromkeys("ad", "finished"),
        **dict.fromkeys("bc", "rejected"),
    }
    assert (served.rows["b"]["reason"], served.rows["c"]["reason"]) == (
        "no output token asked for",
        "empty prompt",
    )
    assert served.finish("a") == served.finish("d") == 1.0
    gaps, counts = served.engine.recorder.gap_histogram()
    assert (len(gaps), len(counts)) == (0, 0)


@pytest.mark.parametrize("arrival", [float("nan"), -0.5, float("inf")])
def test_o17_broken_arrival_times(arrival: float) -> None:
    with pytest.raises(InputError, match=r"'R1', field 'arrival'.*expected seconds"):
        serve([RequestSpec("R0", 0.0, 4, 1), RequestSpec("R1", arrival, 4, 1)])


def test_o17_unsorted_rows_and_ties() -> None:
    shuffled, ordered = (
        serve("A(4,3,@2) B(4,3,@0) C(4,3,@1)"),
        serve("B(4,3,@0) C(4,3,@1) A(4,3,@2)"),
    )
    assert shuffled.lines == ordered.lines
    assert serve("X(4,1,@0) B(4,1,@0)", max_num_seqs=1).lines[0]["running"] == []
    assert list(serve("X(4,1,@0) B(4,1,@0)").lines[0]["scheduled"]) == ["X", "B"]


def test_o18_metrics_when_a_request_was_preempted() -> None:
    served = serve(O02, num_gpu_blocks=6)
    row, recorder = served.rows["R1"], served.engine.recorder
    assert row["first_token_ns"] == 1_000_000_000
    gaps, counts = recorder.gap_histogram()
    assert counts.sum() == 62
    assert (gaps * counts).sum() == (31 + 46) * 1_000_000_000
    assert gaps.max() == 16_000_000_000
    assert row["preempted_ns"] == 15_000_000_000
    assert recorder.computed_tokens == 174


def test_o20_same_bytes_whatever_the_order_of_ids() -> None:
    names = [f"r{i}" for i in range(40)]
    text = " ".join(f"{n}({7 + i},{5 + i % 9},@{i % 4})" for i, n in enumerate(names))
    runs = [serve(requests(text), "sjf", num_gpu_blocks=9, seed=7).lines for _ in range(2)]
    assert runs[0] == runs[1]
    assert sum(len(line["preempted"]) for line in runs[0]) > 0
    for earlier, later in itertools.pairwise(runs[0]):
        assert later["time"] > earlier["time"]
