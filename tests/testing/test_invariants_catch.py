"""Tests of the tests: for every invariant a deliberate fault in the engine that it catches."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest
from harness import requests
from sched_plugins.policies.skip_ahead import SkipAhead

from sched_core.config import EngineConfig
from sched_core.engine import engine
from sched_core.engine.instance import Instance
from sched_core.execution.plan import Preemption, Swap
from sched_core.memory import kv_cache
from sched_core.memory.block_pool import BlockPool
from sched_core.memory.kv_cache import KVCache
from sched_core.metrics import latency
from sched_core.metrics import summary as metrics
from sched_core.metrics.recorder import Recorder
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.stack import Policy
from sched_core.policy.views import SchedulerView
from sched_core.request import Request, RequestState
from sched_core.scheduler import admission, completion, preemption, running, shedding
from sched_core.scheduler.lockstep import Lockstep
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.waiting import WaitingQueue
from sched_core.testing.invariants import FCFS
from sched_core.testing.invariants.registry import FILED, InvariantError
from sched_core.testing.run import run_watched
from sched_core.testing.strategies import scenario
from sched_core.workload.spec import RequestSpec, SharedPrefix

TIGHT = requests("R0(32,32,@0) R1(32,32,@0) R2(20,30,@1) R3(7,5,@3)")
ALIKE = [RequestSpec(f"R{i}", float(i), 30, 20, prefix=SharedPrefix("g", 24)) for i in range(3)]
AT_ONCE = [attrs.evolve(spec, arrival=0.0) for spec in ALIKE]
LARGE_HEAD = requests("A(40,20,@0) BIG(90,4,@1) S0(8,1,@2) S1(8,1,@3) S2(8,1,@4)")

Fault = Callable[[Any], Callable[..., Any]]


@attrs.frozen
class Case:
    """`owner.name` is replaced by what `fault` makes of it, and the run must not pass."""

    owner: Any
    name: str
    fault: Fault
    specs: list[RequestSpec] = TIGHT
    policy: str | type = "fcfs"
    settings: dict[str, Any] = attrs.field(factory=dict)

    def run(self, invariant: str) -> None:
        config = EngineConfig(
            max_num_batched_tokens=40, block_size=8, **{"num_gpu_blocks": 12, **self.settings}
        )
        if isinstance(self.policy, str):
            policy = Policy.from_spec(self.policy)
        else:
            policy = Policy([("it", self.policy())])
        run = run_watched(scenario(self.specs, config), policy, [FILED[invariant]])
        if run.error:
            raise run.error


def after(change: Callable[..., object]) -> Fault:
    """The original, and then `change` with the same arguments."""

    def fault(original: Any) -> Callable[..., Any]:
        def faulty(*args: Any) -> Any:
            answer = original(*args)
            change(*args)
            return answer

        return faulty

    return fault


def before(change: Callable[..., object]) -> Fault:
    def fault(original: Any) -> Callable[..., Any]:
        def faulty(*args: Any) -> Any:
            change(*args)
            return original(*args)

        return faulty

    return fault


def instead(replacement: Callable[..., object]) -> Fault:
    return lambda _: replacement


def changed(change: Callable[[Any], object]) -> Fault:
    """The original's answer, changed."""
    return lambda original: lambda *args: change(original(*args))


def with_arguments(change: Callable[..., tuple[Any, ...]]) -> Fault:
    return lambda original: lambda *args: original(*change(*args))


class TurnsAwayLate:
    """Whoever still waits after ten steps."""

    @hookimpl
    def reject_request(self, view: SchedulerView) -> str | None:
        return "late" if view.step > 10 else None


# -- faults -----------------------------------------------------------------------------------


def take_what_is_there(kv: KVCache, request: Request, tokens: int) -> None:
    if kv.blocks_for(tokens) - len(request.blocks) > kv.free_blocks:
        request.blocks += kv.device.take(kv.free_blocks)


def take_one_more(kv: KVCache, request: Request, _: int) -> None:
    if kv.free_blocks:
        request.blocks += kv.device.take(1)


def leak_a_block(_: KVCache, request: Request) -> None:
    if len(request.blocks) > 3:
        request.blocks.pop()


def register_unfinished_blocks(kv: KVCache, request: Request, _: int) -> Any:
    return kv, request, len(request.blocks) * kv.block_size


def keep_victims_in_plan(original: Any) -> Callable[..., list[Request]]:
    def order(self: PlanBuilder) -> list[Request]:
        step, waiting = self._state.step, self._state.waiting
        return [*original(self), *(r for r in waiting if r.preempted_step == step)]

    return order


def note_a_bystander(builder: PlanBuilder, preemption: Preemption, _: Any) -> None:
    for waiting in builder._state.waiting:
        if waiting.id != preemption.victim:
            builder.preemptions.append(preemption._replace(victim=waiting.id))


def lose_a_copy(swap: Swap) -> Swap:
    return swap._replace(sources=swap.sources[1:], targets=swap.targets[1:])


def spend_nothing(builder: PlanBuilder, tokens: int) -> None:
    builder.granted += tokens


def one_tick_early(_: Lockstep, request: Request) -> int:
    left = request.output_len - request.emitted
    return request.lockstep_since + left - 1 - (left > 4)


def skip_a_tick(lockstep: Lockstep, _: int) -> None:
    lockstep.tick += lockstep.tick == 20


def leave_out(name: str) -> Fault:
    def fault(original: Any) -> Callable[..., Any]:
        def grant_one(state: SchedulerState, builder: PlanBuilder, request: Request) -> None:
            if request.id != name:
                original(state, builder, request)

        return grant_one

    return fault


def not_at_first(original: Any) -> Callable[..., None]:
    def admit(state: SchedulerState, builder: PlanBuilder) -> None:
        if state.now_ns:
            original(state, builder)

    return admit


def keep_one(original: Any) -> Callable[..., None]:
    def remove(self: WaitingQueue, request: Request) -> None:
        if request.id != "R2":
            original(self, request)

    return remove


def drop_victim(state: SchedulerState, _: PlanBuilder, victim: Request, *__: Any) -> None:
    state.waiting.remove(victim)


def let_victim_run(_: SchedulerState, __: PlanBuilder, victim: Request, *___: Any) -> None:
    victim.state = RequestState.RUNNING


def forget_emitted(_: SchedulerState, __: PlanBuilder, victim: Request, *___: Any) -> None:
    victim.emitted = 0


def reverse_running(state: SchedulerState, *_: Any) -> None:
    state.running.reverse()


def lose_a_position(_: SchedulerState, request: Request, *__: Any) -> None:
    request.computed -= request.computed == 40


def forget_recomputed(_: SchedulerState, request: Request, *__: Any) -> None:
    request.recomputed_tokens = 0


def be_scheduled_late(_: SchedulerState, request: Request, *__: Any) -> None:
    request.first_scheduled_ns = request.last_token_ns


def count_preempted_time(_: SchedulerState, request: Request, *__: Any) -> None:
    request.preempted_ns += 1


def lose_a_gap(recorder: Recorder, gap_ns: int, count: int) -> Any:
    return recorder, gap_ns, count - (count > 1)


def forget_a_record(original: Any) -> Callable[..., None]:
    def ended(self: Recorder, request: Request) -> None:
        if request.id != "R2":
            original(self, request)

    return ended


def count_a_step_often(recorder: Recorder, *_: Any) -> None:
    recorder.steps += 100


def count_a_token_more(recorder: Recorder, *_: Any) -> None:
    recorder.computed_tokens += 1


def refuse_one(original: Any) -> Callable[..., Any]:
    return lambda spec, config: "no" if spec.id == "R2" else original(spec, config)


def tell_the_end_twice(original: Any) -> Callable[..., None]:
    def tell(self: Policy, event: str, *args: object) -> None:
        for _ in range(1 + (event == "request_finished")):
            original(self, event, *args)

    return tell


def oldest(state: SchedulerState) -> Request:
    return state.running[0]


def backwards(queue: WaitingQueue) -> Any:
    return reversed(queue.ordered())


CACHED = {"num_gpu_blocks": 40, "enable_prefix_caching": True}

FAULTS = {
    "A1 blocks are conserved": Case(KVCache, "release", before(leak_a_block)),
    "A2 tables fit what is computed": Case(KVCache, "grow", after(take_one_more)),
    "A3 reference counts are owners": Case(
        BlockPool, "share", instead(lambda pool, block: pool._stale.pop(block, None)),
        ALIKE, settings=CACHED,
    ),
    "A4 what fails changes nothing": Case(
        KVCache, "grow", before(take_what_is_there),
        settings={"num_gpu_blocks": 8, "scheduler_reserve_full_isl": False},
    ),
    "A5 a victim frees what it alone holds": Case(KVCache, "release", before(leak_a_block)),
    "A6 shared blocks are full": Case(
        KVCache, "register", with_arguments(register_unfinished_blocks), AT_ONCE,
        "fcfs+chunk:size=12", CACHED,
    ),
    "A7 an empty system holds nothing": Case(
        KVCache, "end_step", instead(lambda _: None), policy="fcfs+swap",
        settings={"num_cpu_blocks": 20},
    ),
    "B1 grants fit what is known": Case(Lockstep, "advance", after(skip_a_tick)),
    "B2 budget and seats hold": Case(PlanBuilder, "_spend", instead(spend_nothing)),
    "B3 progress is lost only by preemption": Case(completion, "_advance", after(lose_a_position)),
    "B4 a token comes when all known ones are computed": Case(
        preemption, "_preempt", after(forget_emitted)
    ),
    "B5 computed tokens add up": Case(completion, "_advance", after(forget_recomputed)),
    "B6 finished means complete": Case(Lockstep, "_final_tick", instead(one_tick_early)),
    "B7 hits hold what they stand for": Case(
        BlockPool, "find", instead(lambda pool, _: next(iter(pool._key_of), None)),
        ALIKE, settings=CACHED,
    ),
    "B8 counts are whole numbers": Case(
        Policy, "chunk_size", changed(np.int64), policy="fcfs+chunk:size=5"
    ),
    "C1 granted and preempted are disjoint": Case(PlanBuilder, "order", keep_victims_in_plan),
    "C2 a victim stays out for the step": Case(preemption, "_preempt", after(let_victim_run)),
    "C3 everyone is in one place": Case(WaitingQueue, "remove", keep_one),
    "C4 victims were running": Case(PlanBuilder, "preempt", after(note_a_bystander)),
    "C4 nobody yields to a younger one": Case(preemption, "last_in_order", instead(oldest)),
    "C5 nobody is skipped silently": Case(running, "_grant_one", leave_out("R1")),
    "C6 nobody waits for an idle engine": Case(admission, "admit", not_at_first),
    "D1 the queue is served in order": Case(WaitingQueue, "__iter__", instead(backwards)),
    "D1 nobody younger runs": Case(WaitingQueue, "__iter__", instead(backwards)),
    "D2 running is in order of arrival": Case(admission, "_join", after(reverse_running)),
    "D3 the last in order yields": Case(preemption, "last_in_order", instead(oldest)),
    "D5 by-passes are bounded": Case(
        SkipAhead, "_count", instead(lambda *_: None), LARGE_HEAD, "skip-ahead:max_bypasses=2"
    ),
    "E1 nobody is lost": Case(preemption, "_preempt", after(drop_victim)),
    "E1 everyone is accounted for": Case(Recorder, "ended", forget_a_record),
    "E2 what can never fit is refused at once": Case(engine, "refusal", refuse_one),
    "E3 the oldest always moves": Case(
        running, "_grant_one", leave_out("A"), requests("A(90,4,@0) B(8,4,@0)"),
        settings={"num_gpu_blocks": 20},
    ),
    "E4 steps are bounded by work": Case(Recorder, "step", after(count_a_step_often)),
    "E5 a loss serves somebody older": Case(preemption, "last_in_order", instead(oldest)),
    "E9 the oldest keeps its place": Case(preemption, "last_in_order", instead(oldest)),
    "E2 who has run is not turned away": Case(
        shedding, "has_run", instead(lambda _: False), policy=TurnsAwayLate
    ),
    "F1 the clock moves forward": Case(Instance, "_timed", instead(lambda *_: 0)),
    "F2 milestones are in order": Case(completion, "_advance", after(be_scheduled_late)),
    "F3 gaps add up": Case(Recorder, "gaps", with_arguments(lose_a_gap)),
    "F4 waits are told apart": Case(completion, "_advance", after(count_preempted_time)),
    "F5 work is counted once": Case(Recorder, "step", after(count_a_token_more)),
    "F6 figures are of finished requests": Case(
        metrics, "_makespan", instead(lambda *_: float("nan"))
    ),
    "F7 percentiles rise": Case(latency, "percentiles", changed(lambda values: values[::-1])),
    "H5 every event is told once": Case(Policy, "tell", tell_the_end_twice),
    "I4 memory holds what is read": Case(
        kv_cache, "_copies", changed(lose_a_copy),
        policy="fcfs+swap", settings={"num_cpu_blocks": 20},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("invariant", "case"), FAULTS.items(), ids=list(FAULTS))
def test_fault_is_caught(invariant: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    case.run(invariant)
    monkeypatch.setattr(case.owner, case.name, case.fault(getattr(case.owner, case.name)))
    with pytest.raises(InvariantError) as caught:
        case.run(invariant)
    assert caught.value.name == invariant


def test_every_invariant_has_a_fault() -> None:
    assert set(FAULTS) == set(FILED) == {each.name for each in FCFS}
