"""One scheduler with its executor: takes requests in, begins steps, and ends them.

It knows no clock but the time that it is told. What a step brings is visible when it ends.
"""

from collections.abc import Sequence

from sched_core.config import EngineConfig
from sched_core.engine.leap import leap, may_leap
from sched_core.engine.wake import wake_ns
from sched_core.errors import SchedfwError
from sched_core.execution.executor import Executor, modelled, steps_of
from sched_core.execution.load import StepLoad
from sched_core.execution.plan import StepPlan
from sched_core.execution.step_record import StepRecord, Watcher, refuse_non_watchers
from sched_core.limits import MAX_NS, MAX_SECONDS, NANOSECONDS
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.request import Request, RequestState
from sched_core.scheduler import completion
from sched_core.scheduler.scheduler import Scheduler
from sched_core.scheduler.state import SchedulerState


class Instance:
    """One engine among others, or the only one."""

    def __init__(
        self,
        config: EngineConfig,
        policy: Policy,
        executor: Executor,
        *,
        seed: int = 0,
        watchers: Sequence[Watcher] = (),
        leaps: bool = True,
    ) -> None:
        refuse_non_watchers(watchers)
        self.recorder = Recorder()
        self.state = SchedulerState(config, policy, executor.costs, self.recorder, seed)
        self.scheduler = Scheduler(self.state)
        self._executor = executor
        self._modelled = modelled(executor)
        self._watchers = watchers
        self._leaps = (
            leaps
            and self._modelled
            and config.batching == "continuous"
            and policy.declares.may_leap
            and not any(watcher.single_steps for watcher in watchers)
        )
        # which blocks decodes hold shows in plans, and in what the prefix cache forgets
        self.state.kv.by_count = (
            self._modelled and not watchers and not config.enable_prefix_caching
        )
        self._plan: StepPlan | None = None
        """Of the step in flight, if anybody reads it."""
        self._steps = steps_of(executor.costs)
        self._durations: list[int] = []
        """Of the steps in flight: all but the last are over."""
        self._leapt = False
        self._start_ns = 0
        self._step_ns = NANOSECONDS
        """About what a step takes."""
        self.wake_ns: int | None = None
        """When the policy wants to be asked again."""
        for watcher in watchers:
            watcher.started(config, executor.costs)

    # -- who comes and goes ---------------------------------------------------------------------

    def add(self, request: Request, refusal: str | None) -> bool:
        """Take in a request at its arrival, between two steps; False if it was rejected."""
        self.state.now_ns = request.arrival_ns
        self.scheduler.add(request, refusal)
        return request.state is not RequestState.REJECTED

    def abort(self, request: Request, now_ns: int) -> None:
        """Let a request go whose client has given up, between two steps."""
        self.state.now_ns = now_ns
        self.scheduler.abort(request)

    # -- steps ----------------------------------------------------------------------------------

    def begin(self, now_ns: int, until_ns: float) -> int | None:
        """Begin a step at `now_ns`, or a leap: steps that are alike, of which all but the last end
        before `until_ns`, or before the policy wants to be asked.

        Returns when the last one ends; None if nothing at all could be granted.
        """
        self._start_ns = self.state.now_ns = now_ns
        if self.state.sheds:
            self.state.sheds = []
        wakes = self.wake_ns is not None and self.wake_ns <= now_ns
        self._leapt = self._leaps and not wakes and may_leap(self.state) and self._leap(until_ns)
        if not self._leapt:
            begun = self._one_step(now_ns)
            self.wake_ns = wake_ns(self.state)
            if not begun:
                return None
        return self.state.now_ns + self._durations[-1]

    def end(self) -> Sequence[Request]:
        """Take in what the step that was begun has brought; returns who finished."""
        state, end_ns = self.state, self.state.now_ns + self._durations[-1]
        if self._leapt:
            steps = len(self._durations)
            finished = completion.take_in_leap(state, self._start_ns, end_ns, steps)
        else:
            finished = self.scheduler.complete(end_ns)
        if self._watchers:
            self._tell(finished)
        if state.rejected:
            state.rejected = {}
        return finished

    def _leap(self, until_ns: float) -> bool:
        state = self.state
        self.wake_ns = wake_ns(state)
        if self.wake_ns is not None:
            until_ns = min(until_ns, self.wake_ns)
        durations = leap(state, self.recorder, self._prices, until_ns, self._step_ns)
        if not durations:
            return False
        if self._watchers:
            self._plan = self.scheduler.builder.plan_of_leap(self._start_ns, len(durations))
        state.ended_ids.clear()
        self._durations, self._step_ns = durations, durations[-1]
        return True

    def _one_step(self, now_ns: int) -> bool:
        state, builder = self.state, self.scheduler.builder
        if not self.scheduler.schedule(now_ns):
            return False
        load, duration_ns = builder.load(), 0
        if self._watchers or not self._modelled:
            self._plan = builder.plan(load)
        if any(load):  # others are not executed
            duration_ns = self._timed(self._seconds(load))
            state.ended_ids.clear()
        self._record(load, duration_ns)
        self._durations = [duration_ns]
        return True

    def _seconds(self, load: StepLoad) -> float:
        if self._modelled:
            return self.state.costs.step(load)
        assert self._plan is not None
        return self._executor.execute(self._plan).duration

    def _timed(self, seconds: float) -> int:
        duration_ns = round(seconds * NANOSECONDS) if 0 < seconds <= MAX_SECONDS else 0
        if not 0 < duration_ns <= MAX_NS - self.state.now_ns:
            raise SchedfwError(
                f"step {self.state.step}: the executor says it took {seconds!r} s; a step takes "
                f"more than 0, and a run at most {MAX_SECONDS} s"
            )
        return duration_ns

    def _prices(self, load: StepLoad, count: int) -> list[int]:
        """Nanoseconds of `count` steps of decodes, the first of which is `load`."""
        seconds = self._steps(load, count) if self._steps else None
        if seconds is None:
            step, decodes, context = self.state.costs.step, load.decodes, load.decode_kv_tokens
            loads = (load._replace(decode_kv_tokens=context + n * decodes) for n in range(count))
            return [self._timed(step(each)) for each in loads]
        if not (min(seconds) > 0 and sum(seconds) <= MAX_SECONDS):  # NaN is neither
            return [self._timed(each) for each in seconds]
        durations = [round(each * NANOSECONDS) for each in seconds]
        if not 0 < min(durations) <= sum(durations) <= MAX_NS - self.state.now_ns:
            return [self._timed(each) for each in seconds]
        return durations

    def _record(self, load: StepLoad, duration_ns: int) -> None:
        state, builder, recorder = self.state, self.scheduler.builder, self.recorder
        used = state.kv.num_blocks - state.kv.free_blocks
        granted = builder.granted
        recorder.step(duration_ns, granted, used, state.waiting.size, len(state.running))
        recorder.padding_tokens += load.decodes + load.prefill_tokens - granted
        if builder.preemptions or builder.swapped_in:
            outs, ins, blocks = builder.swapped_out, builder.swapped_in, load[-2] + load[-1]
            recorder.moved(len(builder.preemptions), len(outs), len(ins), blocks)

    def _tell(self, finished: Sequence[Request]) -> None:
        state, plan = self.state, self._plan
        assert plan is not None
        queues = any(watcher.queues for watcher in self._watchers)
        record = StepRecord(
            plan,
            tuple(self._durations),
            tuple(request.id for request in finished),
            state.rejected,
            len(state.running),
            state.waiting.size,
            state.kv.free_blocks,
            state.kv.free_host_blocks,
            tuple(r.id for r in state.running) if queues else None,
            tuple(r.id for r in state.waiting.ordered()) if queues else None,
        )
        for watcher in self._watchers:
            watcher.stepped(record)
