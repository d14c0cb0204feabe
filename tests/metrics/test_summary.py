"""Figures of hand-worked runs, one second a step."""

import json

import pytest
from harness import records, serve, summary

from hwmodels.constant import Constant
from sched_core import InputError, RequestSpec, SharedPrefix, UnknownName
from sched_core.metrics.goodput import check_goodput
from sched_core.metrics.summary import request_records

RECORD_KEYS = {
    *("id", "state", "reason", "tenant", "priority", "arrival", "prompt_len", "output_tokens"),
    *("first_scheduled", "first_token", "finish", "ttft", "tpot", "e2el", "queue_time"),
    *("own_slo_attained", "preempted_time", "preemptions", "recomputed_tokens", "cached_tokens"),
}
O02 = "R0(32,32,@0) R1(32,32,@0)"
SHORTEST = "a(8,1,@0) b(8,0,@0) c(0,4,@0) d(1,1,@0)"


def test_o18_a_preempted_request() -> None:
    served = serve(O02, num_gpu_blocks=6)
    figures, row = summary(served), records(served)["R1"]
    assert (row["ttft"], row["e2el"], row["finish"]) == (1.0, 47.0, 47.0)
    assert row["tpot"] == pytest.approx(46 / 31)
    assert (row["preemptions"], row["recomputed_tokens"], row["preempted_time"]) == (1, 48, 15.0)
    assert figures["itl"]["max"] == 16.0
    assert figures["itl"]["count"] == 31 + 31
    assert figures["itl"]["mean"] == (31.0 + 46.0) / 62
    assert (figures["makespan"], figures["steps"]) == (47.0, 47)
    assert figures["output_throughput"] == 64 / 47
    assert figures["total_token_throughput"] == 128 / 47
    assert figures["request_throughput"] == 2 / 47
    assert (figures["computed_tokens"], figures["recomputed_tokens"]) == (174, 48)
    assert figures["recompute_tax"] == 48 / 174
    assert (figures["preemptions"], figures["peak_blocks"]) == (1, 6)
    assert (figures["swap_outs"], figures["swap_ins"], figures["swapped_bytes"]) == (0, 0, 0)


def test_o16_the_shortest_requests() -> None:
    served = serve(SHORTEST)
    figures, rows = summary(served), records(served)
    for name in "ad":
        assert (rows[name]["ttft"], rows[name]["e2el"], rows[name]["tpot"]) == (1.0, 1.0, None)
    for name in "bc":
        assert rows[name]["state"] == "rejected"
        assert rows[name]["reason"]
        assert [rows[name][key] for key in ("first_scheduled", "first_token", "finish")] == [
            None
        ] * 3
    assert (figures["submitted"], figures["finished"], figures["rejected"]) == (4, 2, 2)
    assert figures["tpot"] == figures["itl"]
    assert (figures["tpot"]["count"], figures["tpot"]["mean"]) == (0, None)
    assert figures["ttft"]["count"] == figures["e2el"]["count"] == 2


def test_one_token_counts_as_a_tpot_of_0_for_goodput() -> None:
    figures = summary(serve(SHORTEST), goodput={"tpot": 0.0, "ttft": 1000.0})
    assert (figures["good"], figures["request_goodput"]) == (2, 2.0)


def test_a_limit_may_just_be_met_and_attainment_is_over_all_sent() -> None:
    served = serve("R0(16,2,@0) R1(16,2,@0) R2(500,9,@0)", max_num_seqs=1, num_gpu_blocks=4)
    assert [record["e2el"] for record in records(served).values()] == [2.0, 4.0, None]
    figures = summary(served, goodput={"e2el": 2000.0})
    assert (figures["good"], figures["slo_attainment"]) == (1, 1 / 3)
    assert figures["request_goodput"] == 1 / 4
    assert summary(served, goodput={"e2el": 1999.9})["good"] == 0
    assert summary(served)["request_goodput"] is summary(served)["slo_attainment"] is None


@pytest.mark.parametrize("limits", [{"itl": 5.0}, {"ttft": -1.0}, {"ttft": float("nan")}])
def test_goodput_limits_are_checked(limits: dict[str, float]) -> None:
    with pytest.raises((UnknownName, InputError), match="goodput"):
        check_goodput(limits)


def test_latencies_are_of_finished_requests_and_the_others_are_counted() -> None:
    served = serve("R0(16,2,@0) R1(16,50,@0) R2(16,9,@100)", horizon=5.0)
    figures, rows = summary(served, goodput={"e2el": 1e6}), records(served)
    assert [rows[name]["state"] for name in ("R0", "R1", "R2")] == [
        "finished",
        "running",
        "pending",
    ]
    assert (figures["submitted"], figures["finished"], figures["unfinished"]) == (3, 1, 2)
    assert figures["ttft"]["count"] == figures["e2el"]["count"] == figures["tpot"]["count"] == 1
    assert rows["R1"]["ttft"] == 1.0
    assert (rows["R1"]["finish"], rows["R1"]["e2el"], rows["R1"]["output_tokens"]) == (
        None,
        None,
        5,
    )
    assert figures["itl"]["count"] == 1 + 4
    assert (figures["makespan"], figures["output_throughput"]) == (2.0, 1.0)
    assert figures["slo_attainment"] == 1 / 2


def test_an_aborted_request_was_sent_and_is_not_good() -> None:
    specs = [RequestSpec("R0", 0.0, 16, 3), RequestSpec("R1", 0.0, 16, 50, abort=4.0)]
    served = serve(specs)
    figures, row = summary(served, goodput={"ttft": 5000.0}), records(served)["R1"]
    assert (figures["finished"], figures["aborted"], figures["unfinished"]) == (1, 1, 0)
    assert (figures["good"], figures["slo_attainment"]) == (1, 1 / 2)
    assert figures["ttft"]["count"] == figures["e2el"]["count"] == 1
    assert (row["state"], row["finish"], row["e2el"], row["ttft"]) == ("aborted", None, None, 1.0)
    assert figures["output_throughput"] == 3 / 3


def test_a_run_in_which_nothing_finished_has_figures_of_none() -> None:
    figures = summary(serve("R0(16,50,@0)", horizon=3.0), goodput={"ttft": 1.0})
    assert figures["makespan"] is figures["output_throughput"] is figures["request_goodput"] is None
    assert (figures["finished"], figures["slo_attainment"]) == (0, 0.0)
    json.dumps(figures, allow_nan=False)


def test_occupancy_is_averaged_over_the_time_of_steps() -> None:
    figures = summary(
        serve("R0(16,2,@0) R1(16,1,@0) R2(16,1,@50)", max_num_seqs=1, num_gpu_blocks=4)
    )
    assert (figures["steps"], figures["makespan"]) == (4, 51.0)
    # R0 holds 1 block and then 2, R1 waits for both steps; R1 and R2 take one step and one block
    assert figures["kv_use"] == {"mean": (1 + 2 + 1 + 1) / (4 * 4), "peak": 2 / 4}
    assert figures["waiting"]["mean"] == 2 / 4
    assert figures["running"] == {"mean": 1.0, "peak": 1}
    assert figures["queue_time"]["max"] == 2.0


def test_swapped_bytes_count_both_ways() -> None:
    served = serve(O02, "swap", num_gpu_blocks=6, num_cpu_blocks=3)
    figures = summary(served, block_bytes=1000)
    assert (figures["swap_outs"], figures["swap_ins"]) == (1, 1)
    assert (figures["swapped_blocks"], figures["swapped_bytes"]) == (6, 6000)
    assert summary(served)["swapped_bytes"] is None, "a block of unknown size"


def test_prefix_hit_rate_is_none_without_a_cache() -> None:
    specs = [RequestSpec(f"R{i}", float(i), 33, 1, prefix=SharedPrefix(0, 32)) for i in range(2)]
    assert summary(serve(specs))["prefix_hit_rate"] is None
    served = serve(specs, enable_prefix_caching=True)
    assert summary(served)["prefix_hit_rate"] == 32 / 66
    assert records(served)["R1"]["cached_tokens"] == 32


def test_records_have_the_documented_keys() -> None:
    served = serve("b(16,3,@2,5) a(16,3,@0,1)", hardware=Constant(step=0.25))
    found = request_records(served.engine.recorder)
    assert [record["id"] for record in found] == ["b", "a"], "order of submission"
    assert set(found[0]) == RECORD_KEYS
    assert list(found[0].values()) == [
        *("b", "finished", None, "default", 5, 2.0, 16, 3),
        *(2.0, 2.25, 2.75, 0.25, 0.25, 0.75, 0.0),
        *(None, 0.0, 0, 0, 0),
    ]


def test_a_preempted_request_that_finds_its_own_blocks_is_no_hit() -> None:
    served = serve(
        "A(16,20,@0) B(16,20,@0)", num_gpu_blocks=8, block_size=8, enable_prefix_caching=True
    )
    assert served.engine.recorder.preemptions > 0
    assert records(served)["B"]["recomputed_tokens"] == 8, "of 24 or more: the rest was found"
    assert summary(served)["prefix_hit_rate"] == 0
