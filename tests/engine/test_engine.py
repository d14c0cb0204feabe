"""The clock and the limits: idle gaps, horizons, closed loops, runs that cannot go on."""

import math

import pytest
from harness import Seen, config_of, requests, serve

from hwmodels.constant import Constant, ConstantCosts, ConstantExecutor
from sched_core.engine.engine import Engine
from sched_core.errors import InputError, NoProgress, SchedfwError
from sched_core.execution.plan import StepOutcome, StepPlan
from sched_core.execution.step_record import StepRecord
from sched_core.limits import NANOSECONDS
from sched_core.policy.hookspecs import NO_VICTIM, hookimpl
from sched_core.policy.stack import Policy
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

DAY = 86_400


def test_idle_gaps_of_days_are_jumped() -> None:
    served = serve(f"A(4,2,@0) B(4,2,@{3 * DAY}) C(4,1,@{9 * DAY + 0.25})")
    assert served.finishes == {"A": 2.0, "B": 3 * DAY + 2.0, "C": 9 * DAY + 1.25}
    assert served.engine.recorder.busy_ns == 5_000_000_000


def test_sums_of_many_steps_are_exact() -> None:
    served = serve("A(1,1000,@0)", hardware=Constant(step=0.1), num_gpu_blocks=100)
    assert served.rows["A"]["finish_ns"] == 100_000_000_000


@pytest.mark.parametrize("horizon", [5.0, 5.5])
def test_a_horizon_cuts_off_at_the_step_that_reaches_it(horizon: float) -> None:
    served = serve("A(4,50,@0) B(4,50,@0) C(4,4,@90)", max_num_seqs=1, horizon=horizon)
    assert {name: row["state"] for name, row in served.rows.items()} == {
        "A": "running",
        "B": "waiting",
        "C": "pending",
    }
    assert served.rows["A"]["output_tokens"] == math.ceil(horizon)
    assert served.rows["A"]["finish_ns"] == -1


def test_the_clock_stops_at_the_horizon_in_an_idle_gap() -> None:
    served = serve("A(4,4,@0) B(4,4,@1000)", horizon=10.0)
    assert served.engine.recorder.end_ns == 10 * NANOSECONDS


def test_who_arrives_in_the_last_step_has_arrived() -> None:
    served = serve("A(4,9,@0) B(4,4,@2.5) C(4,4,@3.5)", horizon=2.8)
    assert served.engine.recorder.end_ns == 3 * NANOSECONDS
    assert {name: row["state"] for name, row in served.rows.items()} == {
        "A": "running",
        "B": "waiting",
        "C": "pending",
    }


def test_a_spell_out_of_the_batch_is_counted_to_the_horizon() -> None:
    served = serve("R0(32,32,@0) R1(32,32,@0)", num_gpu_blocks=6, horizon=20.0)
    assert served.at(17.0)["preempted"] == ["R1"]
    assert served.rows["R1"]["preempted_ns"] == 3_000_000_000


def test_a_closed_loop_sends_when_a_slot_is_free() -> None:
    served = serve("A(4,3,@0) B(4,5,@0) C(4,1,@0) D(4,1,@9)", max_concurrency=2)
    arrivals = {name: row["arrival_ns"] / 1e9 for name, row in served.rows.items()}
    assert arrivals == {"A": 0.0, "B": 0.0, "C": 3.0, "D": 9.0}
    assert served.finishes == {"A": 3.0, "B": 5.0, "C": 4.0, "D": 10.0}


def test_a_rejected_request_frees_its_slot() -> None:
    served = serve("BIG(900,1,@0) A(4,2,@0)", max_concurrency=1, num_gpu_blocks=4)
    assert (served.rows["BIG"]["state"], served.finish("A")) == ("rejected", 2.0)


def test_the_longest_that_fits_max_model_len() -> None:
    served = serve("A(60,4,@0) B(60,5,@0)", max_model_len=64)
    assert served.rows["A"]["state"] == "finished"
    assert served.rows["B"]["reason"] == "prompt + output of 65 tokens > max_model_len 64"


def test_duplicate_ids_are_refused() -> None:
    with pytest.raises(InputError, match=r"number 3 has the id of an earlier one.*'A'"):
        serve("A(4,4,@0) B(4,4,@0) A(4,4,@1)")


def test_a_workload_of_which_nothing_fits_is_refused() -> None:
    with pytest.raises(InputError, match=r"needs 7 KV blocks > the pool's 4"):
        serve("A(100,4,@0)", num_gpu_blocks=4)
    with pytest.raises(InputError, match="no request"):
        serve([])


@pytest.mark.parametrize(
    ("settings", "specs", "message"),
    [
        ({"num_gpu_blocks": None}, "A(4,4,@0)", "'num_gpu_blocks': missing; expected a number of"),
        ({}, "A(4,4,@0) A(4,4,@1)", "number 2 has the id of an earlier one"),
        ({}, "A(0,4,@0)", "no request .* ever be served; the last one: empty prompt"),
    ],
)
def test_what_cannot_run_is_refused_as_the_engine_is_built(
    settings: dict[str, None], specs: str, message: str
) -> None:
    config = config_of(settings)
    executor = Constant().executor(None, block_size=config.block_size)
    with pytest.raises(InputError, match=message):
        Engine(config, Policy([]), executor, Workload(requests(specs)))


class Refuses:
    """Admits nobody."""

    @hookimpl
    def can_admit(self) -> bool:
        return False


def test_no_progress_names_the_oldest_and_what_is_free() -> None:
    with pytest.raises(NoProgress) as stuck:
        serve("A(4,4,@2) B(4,4,@1)", Policy([("refuses", Refuses())]))
    message = str(stuck.value)
    assert "'B' waits with 0 of 4 tokens computed" in message
    assert "100 of 100 blocks" in message
    assert "0 requests run and 2 wait" in message


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf, 1e-12, 1e300])
def test_a_step_takes_a_finite_time(seconds: float) -> None:
    class Broken:
        costs = Constant().executor(None, block_size=16).costs

        def execute(self, plan: StepPlan) -> StepOutcome:
            return StepOutcome(seconds)

    engine = Engine(
        config_of({}),
        Policy([]),
        Broken(),  # type: ignore[arg-type] # as much of an executor as a run needs
        Workload(requests("A(4,4,@0)")),
    )
    with pytest.raises(SchedfwError, match="a step takes more than 0"):
        engine.run()


def test_an_executor_that_keeps_a_cache_is_told_its_size_before_the_first_step() -> None:
    told: list[object] = []

    class Keeping:
        costs = Constant().executor(None, block_size=16).costs

        def initialize_cache(self, num_gpu_blocks: int, num_cpu_blocks: int) -> None:
            told.append((num_gpu_blocks, num_cpu_blocks))

        def execute(self, plan: StepPlan) -> StepOutcome:
            told.append(plan.step)
            return StepOutcome(1.0)

    config = config_of({"num_gpu_blocks": 70, "num_cpu_blocks": 30})
    workload = Workload(requests("A(4,2,@0)"))
    Engine(config, Policy([]), Keeping(), workload).run()  # type: ignore[arg-type]
    assert told == [(70, 30), 0, 1]


def test_everyone_is_counted_at_every_step() -> None:
    seen: list[dict[str, int]] = []
    specs = requests("A(16,30,@0) B(16,30,@0) BIG(999,1,@1) C(16,4,@2) D(4,4,@50)")
    engine = Engine(
        config_of({"num_gpu_blocks": 4}),
        Policy.from_spec("fcfs+swap"),
        Constant(step=1.0).executor(None, block_size=16),
        Workload(specs),
        watchers=[Seen(lambda _: seen.append(engine.counts()))],
    )
    engine.run()
    for counts in seen:
        assert counts["submitted"] == sum(counts.values()) - counts["submitted"] == 5
    assert seen[0] == {
        **dict.fromkeys(("finished", "rejected", "aborted", "waiting", "swapped"), 0),
        "submitted": 5,
        "running": 2,
        "pending": 3,
    }
    assert (seen[-1]["finished"], seen[-1]["rejected"]) == (4, 1)


def test_a_request_may_be_the_same_spec_in_two_runs() -> None:
    specs = [RequestSpec("A", 0.0, 4, 4)]
    assert serve(specs).lines == serve(specs).lines


def test_without_an_order_the_latest_arrival_yields_not_the_last_admitted() -> None:
    specs = "A(32,30,@0) BIG(64,20,@1) S(16,60,@2) T(16,60,@3)"
    settings = {"num_gpu_blocks": 8, "scheduler_reserve_full_isl": False}
    bare = serve(specs, "skip-ahead", **settings)
    ordered = serve(specs, "fcfs+skip-ahead", **settings)
    assert bare.lines == ordered.lines
    assert any(line["preempted"] for line in bare.lines)


def test_an_executor_is_told_of_all_who_ended_though_a_step_does_nothing() -> None:
    """S ends as the last step does; in the next one R1 loses its place, and R0 stands still."""

    class Stalling:
        priority_moves = "static"

        @hookimpl
        def chunk_size(self, view: SchedulerView, request: RequestView, limit: int) -> int:
            others = len(view.running) > 1 or len(view.waiting)
            stalls = request.id == "R0" and request.num_computed_tokens and others
            return 0 if stalls else min(limit, 60)

        @hookimpl
        def select_victim(self, view: SchedulerView, beneficiary: RequestView) -> RequestView:
            others = (v for v in view.victims if v.id not in ("R0", beneficiary.id))
            return next(others, NO_VICTIM)

    specs = requests("R0(70,2,@0) S(4,1,@1) R1(10,2,@1) R2(30,2,@2)")
    told: list[str] = []
    empty: list[int] = []

    class Listening(ConstantExecutor):
        modelled = False  # it wants the plans

        def execute(self, plan: StepPlan) -> StepOutcome:
            told.extend(plan.finished_req_ids)
            return super().execute(plan)

    def see(record: StepRecord) -> None:
        empty.extend([record.plan.step] * (not any(record.plan.load)))

    config = config_of(
        {"max_num_batched_tokens": 64, "block_size": 4, "num_gpu_blocks": 19,
         "scheduler_reserve_full_isl": False}
    )  # fmt: skip
    executor = Listening(ConstantCosts(Constant(step=1.0)))
    policy = Policy([("x", Stalling())])
    engine = Engine(config, policy, executor, Workload(specs), watchers=[Seen(see)])
    while not told:
        engine.advance()
    assert empty == [2]
    assert told == ["S"]


def test_a_clock_that_would_run_over_is_refused() -> None:
    with pytest.raises(SchedfwError, match=r"step 2: .*took 2000.0 s; .* a run at most 9000000000"):
        serve("A(4,9,@8999995000)", hardware=Constant(step=2000.0))


@pytest.mark.parametrize("lengths", ["4,0", "0,4", "999,4"])
def test_what_is_expected_fits_every_refusal(lengths: str) -> None:
    with pytest.raises(InputError, match="expected requests of at least one prompt and one output"):
        serve(f"A({lengths},@0)", num_gpu_blocks=3)
