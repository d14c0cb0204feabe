"""Watches a run and holds it against the invariants."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import attrs

from sched_core.engine.engine import Engine
from sched_core.execution.executor import Executor
from sched_core.execution.step_record import StepRecord, Watcher
from sched_core.experiment.scenario import Scenario
from sched_core.policy.hookspecs import hookimpl
from sched_core.policy.views import RequestView
from sched_core.request import Request
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import request_of
from sched_core.testing.invariants import GENERAL
from sched_core.testing.invariants.memory import AuditedKVCache
from sched_core.testing.invariants.observe import Ended, Observed, Progress, Yielded
from sched_core.testing.invariants.registry import Invariant, InvariantError
from sched_core.testing.invariants.shadow import ShadowExecutor
from sched_core.workload.source import Workload


@attrs.define(eq=False)
class Ledger(Watcher):
    """Raises InvariantError when a rule is broken first.

    It stands last in the stack of components, to be told the events; it is a watcher of the engine;
    `shadowed` and `follow` let it see the memory. After the run comes `close`.
    """

    single_steps: ClassVar[bool] = True

    checks: Sequence[Invariant] = GENERAL
    steps: int = attrs.field(init=False, default=0)
    _progress: Mapping[Request, Progress] = attrs.field(init=False, factory=dict)
    _idle_since_ns: int = attrs.field(init=False, default=0)
    _granted: int = attrs.field(init=False, default=0)
    _copied: int = attrs.field(init=False, default=0)
    _told: Counter[tuple[str, str]] = attrs.field(init=False, factory=Counter)
    _requests: dict[str, Request] = attrs.field(init=False, factory=dict)
    _engine: Engine = attrs.field(init=False)

    def shadowed(self, executor: Executor, scenario: Scenario) -> Executor:
        """The executor with an eye on what is read, if that is asked for; the run must use it."""
        if all(each.when != "read" for each in self.checks):
            return executor
        assert isinstance(scenario.workload, Workload)
        requests, size = scenario.workload.requests, scenario.config.block_size
        return ShadowExecutor(executor, requests, size, self.checks)

    def follow(self, engine: Engine) -> None:
        """Attach to an engine that has not run yet."""
        config, self._engine = engine.state.config, engine
        engine.state.kv = AuditedKVCache(
            engine.state.kv.num_blocks,
            config.block_size,
            config.num_cpu_blocks,
            caching=config.enable_prefix_caching,
            checks=self.checks,
        )

    def stepped(self, record: StepRecord) -> None:
        """Check one step."""
        state, plan, named = self._engine.state, record.plan, self._requests
        waiting = state.waiting.ordered()
        joined = [named[name] for name in (*plan.admitted, *plan.resumed_req_ids)]
        yielded = [
            Yielded(
                named[each.victim],
                None if each.beneficiary is None else named[each.beneficiary],
                each.chosen_by,
            )
            for each in plan.preemptions
        ]
        finished = [named[name] for name in record.finished]
        after = {
            r: self._stand(r, state, joined, plan.preempted_req_ids)
            for r in (*state.running, *waiting, *finished)
        }
        seen = Observed(
            record,
            self._engine,
            finished,
            [named[share.id] for share in plan.scheduled],
            {named[share.id]: share.num_tokens for share in plan.scheduled},
            joined,
            yielded,
            self._progress,
            after,
            waiting,
            self._idle_since_ns,
        )
        for each in self.checks:
            if each.when == "step":
                _require(each.name, each.check(seen), f"step {plan.step}: ")
        self._progress = {r: stand for r, stand in after.items() if r not in finished}
        self._idle_since_ns = state.now_ns
        self._granted += sum(seen.grants.values())
        self._copied += sum(len(s.sources) for s in (*plan.swapped_out, *plan.swapped_in))
        self.steps += 1

    def _stand(
        self,
        request: Request,
        state: SchedulerState,
        joined: Sequence[Request],
        preempted: Sequence[str],
    ) -> Progress:
        by_passed = self._progress.get(request, Progress()).by_passed
        waits = request in state.waiting
        if waits and request.id not in preempted:
            by_passed += sum(other.sort_key > request.sort_key for other in joined)
        lockstep = state.lockstep
        return Progress(
            lockstep.computed(request),
            lockstep.emitted(request),
            not waits,
            request.sort_key,
            by_passed,
        )

    def close(self) -> None:
        """Check the finished run."""
        ended = Ended(self._engine, self._granted, self._copied, self._told)
        for each in self.checks:
            if each.when == "end":
                _require(each.name, each.check(ended), "at the end: ")

    # -- events ---------------------------------------------------------------------------------

    @hookimpl
    def request_arrived(self, request: RequestView) -> None:
        self._requests[request.id] = request_of(request)
        self._told["request_arrived", request.id] += 1

    @hookimpl
    def request_admitted(self, request: RequestView) -> None:
        self._told["request_admitted", request.id] += 1

    @hookimpl
    def tokens_computed(self, request: RequestView, num_tokens: int) -> None:
        self._told["tokens_computed", request.id] += num_tokens

    @hookimpl
    def request_preempted(self, request: RequestView) -> None:
        self._told["request_preempted", request.id] += 1

    @hookimpl
    def request_finished(self, request: RequestView) -> None:
        self._told["request_finished", request.id] += 1


def _require(name: str, problems: Iterable[str], where: str) -> None:
    for problem in problems:
        raise InvariantError(name, where + problem)
