"""The clock: what happens when. Time is an integer number of nanoseconds."""

from collections import deque
from collections.abc import Sequence
from math import inf

from sched_core.config import EngineConfig, refuse_unsized
from sched_core.engine.agenda import ARRIVES, GIVES_UP, STEP_ENDS, Agenda
from sched_core.engine.arrivals import Arrivals
from sched_core.engine.instance import Instance
from sched_core.engine.servable import refusal, refuse_unknown_answers, refuse_unservable
from sched_core.engine.wake import MOST_WAKES
from sched_core.errors import NoProgress
from sched_core.execution.executor import Executor, initialize_cache
from sched_core.execution.step_record import Watcher
from sched_core.limits import NANOSECONDS
from sched_core.metrics.recorder import Recorder
from sched_core.policy.printing import hooks_print_to_stderr
from sched_core.policy.stack import Policy
from sched_core.request import ENDED, Request, RequestState
from sched_core.scheduler.batching import refuse_unpaid
from sched_core.scheduler.state import SchedulerState
from sched_core.workload.source import Workload


class Engine:
    """One run of one policy over one workload on one executor.

    Raises InputError where `config` lacks `num_gpu_blocks`, the executor computes no padding that
    it asks for, two requests share an id or a turn, or none could ever be served.
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
        watchers: Sequence[Watcher] = (),
        leaps: bool = True,
    ) -> None:
        refuse_unsized(config)
        refuse_unpaid(executor, config.batching)
        refuse_unservable(workload, config)
        refuse_unknown_answers(executor, workload, config)
        self.workload = workload
        self.instance = Instance(
            config, policy, executor, seed=seed, watchers=watchers, leaps=leaps
        )
        self._arrivals = Arrivals(workload)
        self._agenda = Agenda()
        self._inbox: deque[Request] = deque()
        """Who has come while a step was in flight."""
        self._leaving: list[tuple[int, int, Request]] = []
        """Who was given up meanwhile."""
        self._busy = False
        self._idle_steps = 0
        self._wake_ns: int | None = None
        """When an idle instance is asked again, if nothing happens before."""
        self._wakes = 0
        """How often in a row it was, and granted nothing."""
        self._now_ns = 0
        self._horizon_ns = inf if horizon is None else round(horizon * NANOSECONDS)
        initialize_cache(executor, self.state.kv.num_blocks, config.num_cpu_blocks)
        self._agenda.arrives_ns = self._arrivals.next_ns()

    @property
    def state(self) -> SchedulerState:
        """The scheduler's."""
        return self.instance.state

    @property
    def recorder(self) -> Recorder:
        """What the run leaves behind."""
        return self.instance.recorder

    def run(self) -> Recorder:
        """Run until nothing is left to do, or to the horizon."""
        with hooks_print_to_stderr():
            while self.advance():
                pass
            self.close()
        return self.recorder

    def advance(self) -> bool:
        """Go on to where the next step begins, or to the next event if none can; False when
        nothing is left to do."""
        if not self._busy and self._is_over():
            return False
        if self._busy:
            self._collect(inf)
        elif (next_ns := self._next_ns()) is not None:
            self._now_ns = max(self._now_ns, next_ns)
        if self._now_ns < self._horizon_ns:
            self._collect(self._now_ns)
            self._take_in()
            self._begin()
        return True

    def _is_over(self) -> bool:
        """Is the horizon reached, or nobody there and nobody to come?"""
        next_ns = self._next_ns()
        if next_ns is None and self._now_ns < self._horizon_ns:
            return not (self.state.running or self.state.waiting.size)
        if next_ns is not None and next_ns < self._horizon_ns:
            return False
        self._now_ns = max(self._now_ns, int(self._horizon_ns))
        return True

    def _next_ns(self) -> int | None:
        """When an idle instance has something to do."""
        next_ns, wake_ns = self._agenda.next_ns(), self._wake_ns
        return next_ns if wake_ns is None else min(wake_ns, wake_ns if next_ns is None else next_ns)

    def _collect(self, until_ns: float) -> None:
        """Everything that happens by then, or until the step in flight ends. Who comes or gives up
        meanwhile waits for that: a busy instance takes nobody in."""
        while event := self._agenda.pop(until_ns):
            ns, what, order, request = event
            if request is not None:
                self._leaving.append((ns, order, request))
            elif what == ARRIVES:
                self._inbox.append(self._arrivals.pop())
                self._agenda.arrives_ns = self._arrivals.next_ns()
            else:
                self._busy, self._now_ns = False, ns
                if finished := self.instance.end():
                    self._ended(finished)
                return

    def _ended(self, requests: Sequence[Request]) -> None:
        """In a closed loop or a session somebody else may come now."""
        self._arrivals.ended(self._now_ns, requests)
        self._agenda.arrives_ns = self._arrivals.next_ns()

    def _take_in(self) -> None:
        """First everyone who came, then everyone who gave up."""
        while self._inbox:
            self._add(self._inbox.popleft())
        if self._leaving:
            for *_, request in sorted(self._leaving):
                if request.state not in ENDED:
                    self.instance.abort(request, self._now_ns)
                    self._ended((request,))
            self._leaving.clear()

    def _add(self, request: Request) -> None:
        reason = refusal(request, self.state.config)
        if not self.instance.add(request, reason):
            self._ended((request,))
        elif request.spec.abort is not None:
            self._agenda.add(round(request.spec.abort * NANOSECONDS), GIVES_UP, request)
        else:
            return
        self._collect(self._now_ns)  # its client may have given up, or a slot be free, by now

    def _begin(self) -> None:
        next_ns = self._agenda.next_ns()
        until_ns = self._horizon_ns if next_ns is None else min(next_ns, self._horizon_ns)
        end_ns = self.instance.begin(self._now_ns, until_ns)
        self._wake_ns = None
        if self.state.sheds:
            self._ended(self.state.sheds)
        if end_ns is not None:
            self._busy, self._idle_steps, self._wakes = True, 0, 0
            self._agenda.add(end_ns, STEP_ENDS)
        else:
            self._idle()

    def _idle(self) -> None:
        """Nothing was granted: is there an event to come, or a time that the policy names?"""
        self._wake_ns = self.instance.wake_ns
        if self._wake_ns is not None:
            self._idle_steps, self._wakes = 0, self._wakes + 1
            if self._wakes > MOST_WAKES:
                raise _no_progress(self.state, f"{MOST_WAKES:,} times wake_at brought no grant")
        elif self._agenda.next_ns() is not None:
            self._idle_steps = 0
        elif self.state.running or self.state.waiting.size:
            self._idle_steps += 1
            if self._idle_steps >= 2:
                raise _no_progress(self.state, _NOTHING_TO_COME)

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
            "waiting": state.waiting.size - swapped,
            "swapped": swapped,
            "pending": len(self._arrivals) + len(self._inbox),
        }

    def close(self) -> None:
        """End the run here: write the rows of those that are still in it."""
        state = self.state
        while self._inbox:  # they came during the step that reached the horizon
            request = self._inbox.popleft()
            self.instance.add(request, refusal(request, state.config))
        state.lockstep.disband(state.running)
        for request in (*state.running, *state.waiting.ordered()):
            request.end_wait(self._now_ns)
            self.recorder.ended(request)
        for request in self._arrivals.rest(self._now_ns):
            self.recorder.ended(request)
        self.recorder.end_ns = self._now_ns
        self.recorder.prefix_queries = state.kv.prefix_queries
        self.recorder.prefix_hits = state.kv.prefix_hits


_NOTHING_TO_COME = "two steps in a row granted nothing and nothing is to come"


def _no_progress(state: SchedulerState, why: str) -> NoProgress:
    oldest: Request = min(
        (*state.running, *state.waiting.ordered()), key=lambda r: (r.arrival_ns, r.submitted_seq)
    )
    doing = "waits" if oldest.state is not RequestState.RUNNING else "runs"
    return NoProgress(
        f"{why}, at step {state.step}, time {state.now_ns / NANOSECONDS:.9g} s: the oldest "
        f"request {oldest.id!r} {doing} with {oldest.computed} of {oldest.known} tokens computed; "
        f"{state.kv.free_blocks} of {state.kv.num_blocks} blocks and "
        f"{state.kv.free_host_blocks} of {state.kv.num_host_blocks} host blocks are free, "
        f"{len(state.running)} requests run and {state.waiting.size} wait"
    )
