"""skip-ahead: who may pass, how often, and at what cost to the scheduler."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from harness import serve
from sched_plugins.policies.skip_ahead import SkipAhead

from sched_core import RequestSpec
from sched_core.policy.stack import Policy
from sched_core.scheduler.views import EngineView

O10 = "A(96,20,@0) BIG(128,4,@1) S1(16,1,@2) S2(16,1,@2)"


def test_case_o10() -> None:
    served = serve(O10, "skip-ahead", num_gpu_blocks=10, max_num_batched_tokens=512)
    assert [served.first_scheduled(name) for name in ("S1", "S2", "BIG")] == [2.0, 2.0, 20.0]
    assert served.finishes == {"A": 20.0, "BIG": 24.0, "S1": 3.0, "S2": 3.0}
    assert served.engine.recorder.computed_tokens == 278


@pytest.mark.parametrize(("most", "passed"), [(0, []), (1, ["S0"]), (3, ["S0", "S1", "S2"])])
def test_nothing_passes_once_the_bound_is_reached(most: int, passed: list[str]) -> None:
    """Five small ones come at once, so the bound is met within one step."""
    small = " ".join(f"S{i}(16,1,@2)" for i in range(5))
    served = serve(f"A(96,20,@0) BIG(128,4,@1) {small}", f"skip-ahead:max_bypasses={most}", **SMALL)
    assert [name for name in served.rows if served.first_scheduled(name) == 2.0] == passed
    assert served.first_scheduled("BIG") == 20.0


SMALL = {"num_gpu_blocks": 10, "max_num_batched_tokens": 512}


def test_a_by_pass_counts_when_it_takes_the_last_seat() -> None:
    """The engine stops asking after the last seat; the by-pass counts all the same."""
    small = " ".join(f"S{i}(16,1,@{2 + i})" for i in range(5))
    served = serve(
        f"A(96,20,@0) BIG(128,4,@1) {small}",
        "skip-ahead:max_bypasses=2",
        max_num_seqs=2,
        **SMALL,
    )
    early = [name for name in served.rows if served.first_scheduled(name) < 20.0]
    assert early == ["A", "S0", "S1"]


def test_a_request_fits_by_the_chunk_that_it_would_get() -> None:
    """B's prompt needs 4 blocks, its first chunk one; 2 are free when it comes."""
    how = {"num_gpu_blocks": 5, "scheduler_reserve_full_isl": False}
    served = serve("A(32,40,@0) B(64,1,@4)", "skip-ahead+chunk:size=16", **how)
    assert served.first_scheduled("B") == 4.0


def by_passes(served: Any) -> Counter[str]:
    """Counted from the decisions alone: who waits on while a later arrival joins."""
    count: Counter[str] = Counter()
    place = {name: (row["arrival_ns"], row["submitted_seq"]) for name, row in served.rows.items()}
    for line in served.lines:
        joined = [*line["admitted"], *line["resumed"]]
        for waiter in line["waiting"]:
            count[waiter] += sum(place[waiter] < place[name] for name in joined)
    return count


@pytest.mark.parametrize("most", [1, 4])
def test_by_passes_never_exceed_the_bound(most: int) -> None:
    random = Random(most)
    specs = [
        RequestSpec(f"r{i}", i / 4, random.choice((2, 2, 90)), random.randint(1, 20))
        for i in range(120)
    ]
    settings = {"num_gpu_blocks": 30, "block_size": 4, "max_num_batched_tokens": 64}
    bounded = by_passes(serve(specs, f"skip-ahead:max_bypasses={most}", **settings))
    free = by_passes(serve(specs, "skip-ahead:max_bypasses=999:window=999", **settings))
    assert max(bounded.values()) == most < max(free.values())


def test_a_long_queue_costs_no_more_than_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[int] = Counter()
    fits = EngineView.fits

    def count(view: EngineView, request: Any) -> bool:
        asked[view.step] += 1
        return fits(view, request)

    monkeypatch.setattr(EngineView, "fits", count)
    crowd = " ".join(f"r{i}(128,1,@0)" for i in range(300))
    serve(f"A(96,20,@0) {crowd}", "skip-ahead:window=7", **SMALL)
    assert max(asked.values()) == 7


def test_counts_go_when_requests_end() -> None:
    skip_ahead = SkipAhead()
    serve(O10, Policy([("skip-ahead", skip_ahead)]), **SMALL)
    assert skip_ahead._bypasses == {}
