"""One step: running requests first, then waiting ones. The default decides as vLLM V1 does.

`schedule` decides and takes the memory, `complete` takes in what the step brought. All state is
in `SchedulerState`; `Batch` holds what the step under construction will do.
"""

from collections.abc import Iterable, Sequence

from sched_core.batch import Batch
from sched_core.hookspecs import NO_VICTIM, RECOMPUTE, SWAP
from sched_core.plan import Preemption, StepPlan
from sched_core.records import Recorder
from sched_core.request import NANOSECONDS, Request, RequestState
from sched_core.state import SchedulerState, is_prefill, lacks_prefill
from sched_core.view import RequestView


class Scheduler:
    """Turns the state into step plans, and their outcomes back into state."""

    def __init__(self, state: SchedulerState, recorder: Recorder) -> None:
        self.state = state
        self.recorder = recorder
        self._static = state.config.batching != "continuous"
        self._admissions = 0
        self._restless: set[str] = set()  # tenants something happened to since the last rekey
        self._ended: list[str] = []  # ids that ended since the last plan

    # -- arrivals and ends ----------------------------------------------------------------------

    def add(self, request: Request, refusal: str | None) -> None:
        """Take in an arrival: queue it, or reject it for the reason `refusal`."""
        request.view = RequestView(request, self.state)
        if refusal is None:
            request.state = RequestState.WAITING
            self.tell("request_arrived", request)
            self.state.waiting.add(request)
        else:
            self.tell("request_arrived", request)
            self.end(request, RequestState.REJECTED, refusal)

    def end(self, request: Request, state: RequestState, reason: str | None = None) -> None:
        """Note that a request, held by nobody any more, has ended."""
        request.state, request.reason = state, reason
        request.finish_ns = self.state.now_ns
        request.end_wait(self.state.now_ns)
        self.recorder.ended(request)
        self._ended.append(request.id)
        self.tell("request_finished", request)

    def abort(self, request: Request) -> None:
        """Let a request go whose client gave up; all that it holds is free at once."""
        state = self.state
        if request.state is RequestState.RUNNING:
            if request.joined >= 0:
                state.lockstep.leave(request)
            else:
                state.stragglers.remove(request)
            state.running.remove(request)
        else:
            state.waiting.remove(request)
        state.kv.release(request)
        self._let_go()
        self.end(request, RequestState.ABORTED, "the client gave up")

    def tell(self, event: str, request: Request, *args: object) -> None:
        """Tell the observers; an "event" key of the request's tenant may have moved."""
        if self.state.policy.moves == "event":
            self._restless.add(request.tenant)
        if event in self.state.policy.uses:
            now = self.state.now_ns / NANOSECONDS
            self.state.policy.tell(event, request.view, *args, now)

    # -- deciding -------------------------------------------------------------------------------

    def schedule(self, now_ns: int) -> StepPlan | None:
        """Decide the step that starts at `now_ns`; None if nothing at all changes in it."""
        state = self.state
        state.now_ns = now_ns
        state.granted = 0
        state.joined.clear()
        state.budget_left = state.config.max_num_batched_tokens
        if "step_budget" in state.policy.uses:
            state.budget_left = state.policy.step_budget(state.view, state.budget_left)
        batch = Batch(state)
        if state.running:
            self._grant(batch, self._turn(batch))
        if len(state.waiting) and not batch.preemptions:
            self._admit(batch)
        if state.running and self._static and not state.granted:
            state.forming = False  # nobody is left to prefill: now they decode together
            self._grant(batch, self._everyone(batch))
        plan = batch.plan(tuple(self._ended))
        if plan is not None:
            self._ended.clear()
        return plan

    def _turn(self, batch: Batch) -> Sequence[Request]:
        """Which running requests are to be granted tokens one by one, in order.

        In a static batch that is being filled only those that prefill.
        """
        state = self.state
        if self._static and (state.forming or any(map(lacks_prefill, state.stragglers))):
            batch.break_lockstep()
            return [request for request in self._everyone(batch) if lacks_prefill(request)]
        return self._everyone(batch)

    def _everyone(self, batch: Batch) -> Sequence[Request]:
        state = self.state
        if "order_running" not in state.policy.uses and batch.grant_lockstep():
            return tuple(state.stragglers)
        batch.break_lockstep()
        if "order_running" in state.policy.uses:
            return state.policy.order_running(state.view)
        return tuple(state.running)

    def _grant(self, batch: Batch, turn: Iterable[Request]) -> None:
        state = self.state
        for request in turn:
            if state.budget_left <= 0:
                break
            if request.state is RequestState.RUNNING:
                self._grant_one(batch, request)

    def _grant_one(self, batch: Batch, request: Request) -> None:
        """Give a running request its tokens, and the blocks for them, from whoever must yield."""
        tokens = self._chunk(request, request.computed)
        while tokens and not self.state.kv.grow(request, request.computed + tokens):
            victim = self._victim(request)
            if victim is None:
                return
            self._preempt(batch, victim, request)
            if victim is request:
                return
        if tokens:
            batch.grant(request, tokens)

    def _chunk(self, request: Request, computed: int) -> int:
        """Tokens for this step; 0 if it cannot, or by its policy shall not, run now."""
        state = self.state
        tokens = state.limit(request, computed)
        if (
            tokens
            and "chunk_size" in state.policy.uses
            and state.config.enable_chunked_prefill
            and is_prefill(request, computed)
        ):
            tokens = state.policy.chunk_size(state.view, request.view, tokens)
        return tokens

    def _victim(self, beneficiary: Request) -> Request | None:
        """Who gives up its blocks for `beneficiary`; None is nobody."""
        state = self.state
        answer: Request | None = None
        if "select_victim" in state.policy.uses:
            choice = state.policy.select_victim(state.view, beneficiary.view)
            if choice is NO_VICTIM:
                return None
            answer = choice
        if answer is None and beneficiary.state is RequestState.RUNNING:
            answer = self._last_in_order()
        return answer

    def _last_in_order(self) -> Request:
        """The running request with the worst effective priority, then the latest arrival.

        Under strict first come, first served that is the last one admitted, as in vLLM.
        """
        policy, now = self.state.policy, self.state.now_ns / NANOSECONDS
        if policy.moves != "static":
            for request in self.state.running:
                key = policy.effective_priority(request.view, now)
                request.sort_key = (key, *request.sort_key[1:])
        return max(self.state.running, key=lambda request: request.sort_key)

    def _preempt(self, batch: Batch, victim: Request, beneficiary: Request) -> None:
        state, policy = self.state, self.state.policy
        batch.withdraw(victim)
        mode = RECOMPUTE
        if "choose_preempt_mode" in policy.uses:
            mode = policy.choose_preempt_mode(state.view, victim.view)
        swap = state.kv.swap_out(victim) if mode is SWAP else None
        if swap is None:
            mode = RECOMPUTE
            state.kv.release(victim)
            victim.computed = 0
        state.running.remove(victim)
        victim.state = RequestState.WAITING if swap is None else RequestState.SWAPPED
        victim.preemptions += 1
        victim.preempted_step = state.step
        victim.preempted_since_ns = state.now_ns
        deciders = policy.decider("select_victim"), policy.decider("choose_preempt_mode")
        batch.preempt(Preemption(victim, beneficiary, mode, *deciders), swap)
        state.waiting.add(victim)
        self.tell("request_preempted", victim, mode)

    # -- admitting ------------------------------------------------------------------------------

    def _admit(self, batch: Batch) -> None:
        state = self.state
        if self._static and not state.forming and (state.running or state.held):
            return
        if state.budget_left <= 0 or len(state.running) >= state.seats:
            state.forming &= len(state.running) < state.seats
            return
        self._rekey()
        chosen: Iterable[Request] | None = None
        if "select_admissions" in state.policy.uses:
            chosen = state.policy.select_admissions(state.view)
        for request in state.waiting if chosen is None else chosen:
            if not self._admit_one(batch, request):
                break
            if state.budget_left <= 0 or len(state.running) >= state.seats:
                break
        # only a spent budget leaves a static batch open for the next step
        state.forming = self._static and state.budget_left <= 0 < state.seats - len(state.running)

    def _rekey(self) -> None:
        moves, waiting = self.state.policy.moves, self.state.waiting
        if moves == "time":
            waiting.rekey()
        elif moves == "event" and self._restless:
            waiting.rekey(self._restless)
        self._restless.clear()

    def _admit_one(self, batch: Batch, request: Request) -> bool:
        """Admit a waiting request if it fits; False ends admission."""
        state = self.state
        if request.preempted_step == state.step:
            return False
        hits = state.kv.hits(request)
        computed = state.kv.start_of(request, hits)
        if not state.limit(request, computed) or not state.policy.can_admit(
            state.view, request.view
        ):
            return False
        tokens = self._chunk(request, computed)
        if not tokens:
            return True  # by its policy it shall not run now; those behind it may
        while not state.has_room(request, computed + tokens, hits):
            victim = self._victim(request)
            if victim is None:
                return False
            self._preempt(batch, victim, request)
            hits = state.kv.hits(request)  # the victim's blocks may have become hits
        self._join(batch, request, tokens, hits)
        return True

    def _join(self, batch: Batch, request: Request, tokens: int, hits: list[int]) -> None:
        state = self.state
        state.waiting.remove(request)
        if request.state is RequestState.SWAPPED:
            batch.swap_in(state.kv.swap_in(request, request.computed + tokens))
        else:
            request.computed = state.kv.start_of(request, hits)
            if request.computed > request.high_water:
                request.cached_tokens += request.computed - request.high_water
                request.high_water = request.computed
            state.kv.admit(request, hits, request.computed + tokens)
        request.state = RequestState.RUNNING
        request.admitted_seq = self._admissions
        self._admissions += 1
        state.running.append(request)
        state.stragglers.append(request)
        state.joined[request] = None
        batch.join(request, tokens)
        self.tell("request_admitted", request)

    # -- taking in ------------------------------------------------------------------------------

    def complete(self, plan: StepPlan, end_ns: int) -> list[Request]:
        """Take in a step that ended at `end_ns`; returns who finished, in the order granted."""
        state = self.state
        start_ns, state.now_ns = state.now_ns, end_ns
        done = self._advance_lockstep(end_ns)
        emitters = [r for r, n in plan.grants.items() if self._advance(r, n, start_ns, end_ns)]
        if "tokens_computed" in state.policy.uses:
            for request, tokens in plan.scheduled():
                self.tell("tokens_computed", request, tokens)
        done += [request for request in emitters if request.emitted >= request.output_len]
        if len(done) > 1:
            finishing = set(done)
            done = [request for request in plan.order if request in finishing]
        for request in done:
            self._finish(request)
        for request in emitters:
            if request.state is RequestState.RUNNING:
                state.lockstep.join(request)
        if plan.grants or plan.preemptions:
            state.stragglers = [
                request
                for request in state.stragglers
                if request.joined < 0 and request.state is RequestState.RUNNING
            ]
        self._let_go()
        state.kv.end_step()
        state.step += 1
        return done

    def _advance_lockstep(self, end_ns: int) -> list[Request]:
        lockstep = self.state.lockstep
        if not lockstep.size:
            lockstep.emitted_ns = end_ns
            return []
        self.recorder.gaps(end_ns - lockstep.emitted_ns, lockstep.size)
        return lockstep.advance(end_ns)

    def _advance(self, request: Request, tokens: int, start_ns: int, end_ns: int) -> bool:
        """Move a request that was granted tokens by itself; did it emit one?"""
        if request.first_scheduled_ns is None:
            request.first_scheduled_ns = start_ns
        request.end_wait(start_ns)
        old, new = request.computed, request.computed + tokens
        if old < request.high_water:
            again = min(new, request.high_water) - old
            request.recomputed_tokens += again
            self.recorder.recomputed_tokens += again
        request.computed = new
        request.high_water = max(request.high_water, new)
        if new < request.known:
            return False
        request.emitted += 1
        if request.last_token_ns is None:
            request.first_token_ns = end_ns
        else:
            self.recorder.gaps(end_ns - request.last_token_ns, 1)
        request.last_token_ns = end_ns
        return True

    def _finish(self, request: Request) -> None:
        state = self.state
        if request.joined >= 0:
            state.lockstep.leave(request)
        state.running.remove(request)
        if self._static:
            state.held.append(request)
        else:
            state.kv.release(request)
        self.end(request, RequestState.FINISHED)

    def _let_go(self) -> None:
        """A static batch is over when nobody in it runs: only then its memory is free."""
        state = self.state
        if state.held and not state.running:
            for request in state.held:
                state.kv.release(request)
            state.held.clear()
