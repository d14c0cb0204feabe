"""The clock: arrivals, steps, idle gaps. Time is an integer number of nanoseconds."""

import math
from collections.abc import Callable, Mapping

from sched_core.config import EngineConfig, refuse_unsized
from sched_core.engine.arrivals import Aborts, Arrivals
from sched_core.engine.leap import leap, may_leap
from sched_core.engine.servable import refusal, refuse_unservable
from sched_core.errors import NoProgress, SchedfwError
from sched_core.execution.executor import Executor
from sched_core.execution.padding import refuse_unpaid
from sched_core.execution.plan import StepPlan
from sched_core.limits import MAX_SECONDS, NANOSECONDS
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.request import Request, RequestState
from sched_core.scheduler.scheduler import Scheduler
from sched_core.scheduler.state import SchedulerState
from sched_core.workload.source import Workload

Watcher = Callable[[StepPlan, SchedulerState, list[Request], Mapping[str, str]], None]
"""Called after every step with its plan, the state it left, who finished in it, and
{id: reason} of the requests rejected since the last step."""


class Engine:
    """One run of one policy over one workload on one executor.

    Raises InputError where `config` lacks `num_gpu_blocks`, the executor computes no padding that
    it asks for, two requests share an id, or none could ever be served.
    """

    def __init__(
        self,
        config: EngineConfig,
        policy: Policy,
        executor: Executor,
        workload: Workload,
        *,
        seed: int = 0,
        horizon: float | None = None,
        watch: Watcher | None = None,
        leaps: bool = True,
    ) -> None:
        refuse_unsized(config)
        refuse_unpaid(executor, config.batching)
        refuse_unservable(workload, config)
        self.workload = workload
        self.recorder = Recorder()
        self.state = SchedulerState(config, policy, executor.costs, self.recorder, seed)
        self._scheduler = Scheduler(self.state)
        self._executor = executor
        self._arrivals = Arrivals(workload)
        self._aborts = Aborts()
        self._horizon_ns = None if horizon is None else round(horizon * NANOSECONDS)
        self._watch = watch
        modelled = getattr(executor, "modelled", False)
        self._leaps = leaps and modelled and watch is None and may_leap(config, policy)
        self._rejected: dict[str, str] = {}
        self._idle_steps = 0
        self._now_ns = 0
        if hasattr(executor, "initialize_cache"):
            executor.initialize_cache(self.state.kv.num_blocks, config.num_cpu_blocks)

    def run(self) -> Recorder:
        """Run until nothing is left to do, or to the horizon."""
        while self.advance():
            pass
        self.close()
        return self.recorder

    def advance(self) -> bool:
        """Take in what has arrived and do one step; False when nothing is left to do."""
        if self._horizon_ns is not None and self._now_ns >= self._horizon_ns:
            return False
        self._take_arrivals(self._now_ns)
        self._take_aborts()
        plan = self._scheduler.schedule(self._now_ns)
        if plan is None:
            return self._jump()
        self._execute(plan)
        if self._leaps:
            self._leap()
        return True

    def counts(self) -> dict[str, int]:
        """Where everyone is; `submitted` is the sum of all others, at every step."""
        state, ended = self.state, self.recorder.ended_by_state
        swapped = sum(bool(request.host_blocks) for request in state.waiting)
        return {
            "submitted": len(self.workload.requests),
            "finished": ended[RequestState.FINISHED],
            "rejected": ended[RequestState.REJECTED],
            "aborted": ended[RequestState.ABORTED],
            "running": len(state.running),
            "waiting": len(state.waiting) - swapped,
            "swapped": swapped,
            "pending": len(self._arrivals),
        }

    def _take_arrivals(self, until_ns: int) -> None:
        arrivals, config = self._arrivals, self.state.config
        while (arrival_ns := arrivals.next_ns()) is not None and arrival_ns <= until_ns:
            request = arrivals.pop()
            reason = refusal(request, config)
            self.state.now_ns = arrival_ns
            self._scheduler.add(request, reason)
            if reason is None:
                self._aborts.watch(request)
            else:
                self._rejected[request.id] = reason
                arrivals.ended(self._now_ns, 1)

    def _take_aborts(self) -> None:
        while (abort_ns := self._aborts.next_ns()) is not None and abort_ns <= self._now_ns:
            self.state.now_ns = self._now_ns
            self._scheduler.abort(self._aborts.pop())
            self._arrivals.ended(self._now_ns, 1)

    def _execute(self, plan: StepPlan) -> None:
        state = self.state
        duration_ns = self._timed(self._executor.execute(plan).duration) if any(plan.load) else 0
        used = state.kv.num_blocks - state.kv.free_blocks
        self.recorder.step(plan, duration_ns, used, len(state.waiting), len(state.running))
        self._now_ns += duration_ns
        finished = self._scheduler.complete(plan, self._now_ns)
        self._idle_steps = 0
        if finished:
            self._arrivals.ended(self._now_ns, len(finished))
        if self._watch is not None:
            self._watch(plan, state, finished, self._rejected)
            self._rejected = {}

    def _leap(self) -> None:
        """Run the steps up to the next event in one go, where they are all alike."""
        events = (self._arrivals.next_ns(), self._aborts.next_ns(), self._horizon_ns)
        until_ns = min((ns for ns in events if ns is not None), default=math.inf)
        step = self._executor.costs.step
        leap(self.state, self.recorder, lambda load: self._timed(step(load)), until_ns)
        self._now_ns = self.state.now_ns

    def _timed(self, seconds: float) -> int:
        duration_ns = round(seconds * NANOSECONDS) if 0 < seconds <= MAX_SECONDS else 0
        if not 0 < duration_ns <= MAX_SECONDS * NANOSECONDS - self.state.now_ns:
            raise SchedfwError(
                f"step {self.state.step}: the executor says it took {seconds!r} s; a step takes "
                f"more than 0, and a run at most {MAX_SECONDS} s"
            )
        return duration_ns

    def _jump(self) -> bool:
        """Nothing could be granted: go to the next arrival or abort, or see whether all is done."""
        coming = (self._arrivals.next_ns(), self._aborts.next_ns())
        next_ns = min((ns for ns in coming if ns is not None), default=None)
        if next_ns is not None:
            if self._horizon_ns is not None:
                next_ns = min(next_ns, self._horizon_ns)
            self._now_ns, self._idle_steps = max(next_ns, self._now_ns), 0
            return True
        state = self.state
        if not state.running and not len(state.waiting):
            return False
        self._idle_steps += 1
        if self._idle_steps >= 2:
            raise _no_progress(state)
        return True

    def close(self) -> None:
        """End the run here: write the rows of those that are still in it."""
        state = self.state
        self._take_arrivals(self._now_ns - 1)  # during the step that reached the horizon
        state.lockstep.disband(state.running)
        for request in (*state.running, *state.waiting.ordered()):
            request.end_wait(self._now_ns)
            self.recorder.ended(request)
        while len(self._arrivals):
            if self._arrivals.next_ns() is None:
                self._arrivals.ended(self._now_ns, 1)
            self.recorder.ended(self._arrivals.pop())
        self.recorder.end_ns = self._now_ns
        self.recorder.prefix_queries = state.kv.prefix_queries
        self.recorder.prefix_hits = state.kv.prefix_hits


def _no_progress(state: SchedulerState) -> NoProgress:
    oldest: Request = min(
        (*state.running, *state.waiting.ordered()), key=lambda r: (r.arrival_ns, r.submitted_seq)
    )
    doing = "waits" if oldest.state is not RequestState.RUNNING else "runs"
    return NoProgress(
        f"two steps in a row granted nothing and nothing is to come, at step {state.step}, time "
        f"{state.now_ns / NANOSECONDS:.9g} s: the oldest request {oldest.id!r} {doing} with "
        f"{oldest.computed} of {oldest.known} tokens computed; {state.kv.free_blocks} of "
        f"{state.kv.num_blocks} blocks and {state.kv.free_host_blocks} of "
        f"{state.kv.num_host_blocks} host blocks are free, {len(state.running)} requests run and "
        f"{len(state.waiting)} wait"
    )
