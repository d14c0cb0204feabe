"""fcfs, priority, priority-aging, sjf: who waits in front of whom."""

from random import Random
from types import SimpleNamespace

import pytest
from harness import serve
from sched_plugins.policies.sjf import ShortestJobFirst

from sched_core import RequestSpec
from sched_core.policy.stack import Policy


def crowd(seed: int, n: int = 40) -> list[RequestSpec]:
    """Requests that come faster than a small pool can hold them."""
    random = Random(seed)
    return [
        RequestSpec(
            f"r{i}", i // 3, random.randint(1, 60), random.randint(1, 40), random.randint(0, 3)
        )
        for i in range(n)
    ]


TIGHT = {"num_gpu_blocks": 30, "block_size": 4, "max_num_batched_tokens": 64}


@pytest.mark.parametrize("seed", range(3))
def test_fcfs_is_the_default_exactly(seed: int) -> None:
    silent = serve(crowd(seed), Policy([]), **TIGHT)
    assert serve(crowd(seed), "fcfs", **TIGHT).lines == silent.lines
    assert silent.engine.recorder.preemptions > 0


@pytest.mark.parametrize("seed", range(3))
def test_aging_is_one_policy_under_two_names(seed: int) -> None:
    aged = serve(crowd(seed), "priority:aging=5", **TIGHT)
    assert aged.lines == serve(crowd(seed), "priority-aging:period=5", **TIGHT).lines
    assert aged.lines != serve(crowd(seed), "priority", **TIGHT).lines


@pytest.mark.parametrize("policy", ["priority:aging=5", "priority-aging:period=5"])
def test_aging_ends_starvation_at_a_known_time(policy: str) -> None:
    stream = " ".join(f"h{i}(4,1,@{i},0)" for i in range(80))
    served = serve(f"LOW(4,1,@0,10) {stream}", policy, max_num_seqs=1)
    assert (served.first_scheduled("LOW"), served.finish("LOW")) == (50.0, 51.0)


def test_aging_keeps_ties_that_sums_of_floats_would_break() -> None:
    """1 * 0.1 + 0.2 is above 0.3 as a float; as a time it is a tie, and the first to come wins."""
    specs = "busy(4,9,@0,-99) late(4,1,@0.3,0) early(4,1,@0.2,1)"
    served = serve(specs, "priority:aging=0.1", max_num_seqs=1)
    assert (served.first_scheduled("early"), served.first_scheduled("late")) == (9.0, 10.0)


def test_sjf_with_an_oracle_serves_short_ones_first() -> None:
    specs = "busy(4,2,@0) long(4,9,@1) short(4,1,@1) middle(4,5,@1)"
    served = serve(specs, "sjf+predict-oracle", max_num_seqs=1)
    assert [served.first_scheduled(name) for name in ("short", "middle", "long")] == [2, 3, 8]


@pytest.mark.parametrize("policy", ["sjf+predict-oracle", "predict-oracle+sjf"])
def test_any_predictor_replaces_sjf_s_own(policy: str) -> None:
    stack = Policy.from_spec(policy)
    serve("a(4,2,@0) b(4,1,@0)", stack)
    assert stack.answered()["predict_output"] == ["predict-oracle"]
    assert stack.oracle


def test_sjf_alone_learns_from_what_has_finished() -> None:
    specs = [
        RequestSpec("chat0", 0.0, 4, 9, tenant="chat"),
        RequestSpec("code0", 0.0, 4, 2, tenant="code"),
        RequestSpec("chat1", 5.0, 4, 9, tenant="chat"),
        RequestSpec("code1", 6.0, 4, 2, tenant="code"),
    ]
    served = serve(specs, "sjf", max_num_seqs=1)
    assert served.finish("chat0") == 9.0  # nothing is known yet: first come, first served
    assert served.finish("code0") == 11.0
    assert served.first_scheduled("chat1") == 11.0  # ordered on entry, when nothing had finished
    later = [RequestSpec("chat2", 12.0, 4, 9, tenant="chat")]
    later += [RequestSpec("code2", 13.0, 4, 2, tenant="code")]
    served = serve(specs + later, "sjf", max_num_seqs=1)
    assert served.first_scheduled("code2") < served.first_scheduled("chat2")


def test_sjf_counts_what_is_left() -> None:
    key = ShortestJobFirst().effective_priority
    assert key(SimpleNamespace(predicted_output=100.0, num_output_tokens=60)) == 40.0
    assert key(SimpleNamespace(predicted_output=100.0, num_output_tokens=400)) == 1.0
