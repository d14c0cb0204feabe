"""The step under construction: who was granted what, and what the executor will be told."""

from sched_core.execution.padding import padded
from sched_core.execution.plan import Preemption, StepLoad, StepPlan, Swap
from sched_core.request import Request
from sched_core.scheduler.state import SchedulerState, is_prefill


class Batch:
    """What the current step has decided so far. Granting takes from the state's budget."""

    __slots__ = (
        "_in",
        "_lockstep",
        "_out",
        "_state",
        "admitted",
        "grants",
        "preemptions",
        "resumed",
    )

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._lockstep = False
        """Do the members of the lockstep have their tokens of this step?"""
        self.grants: dict[Request, int] = {}
        self.admitted: dict[Request, int] = {}
        self.resumed: list[Request] = []
        self.preemptions: list[Preemption] = []
        self._out: list[Swap] = []
        self._in: list[Swap] = []

    def grant_lockstep(self) -> bool:
        """Give every member of the lockstep its token, if nothing can come between.

        That is so when budget and blocks suffice and no straggler is before them in order.
        """
        state, lockstep = self._state, self._state.lockstep
        size = lockstep.size
        if size > state.budget_left or lockstep.num_due() > state.kv.free_blocks:
            return False
        if size and state.stragglers and state.running[size] is not state.stragglers[0]:
            return False
        if lockstep.num_due():
            for request in lockstep.due():
                state.kv.grow_one(request)
        self._spend(size)
        self._lockstep = True
        return True

    def break_lockstep(self) -> None:
        """Treat every running request on its own in this step."""
        state = self._state
        if state.lockstep.size:
            state.lockstep.disband(state.running)
            state.stragglers = list(state.running)

    def _spend(self, tokens: int) -> None:
        self._state.budget_left -= tokens
        self._state.granted += tokens

    def grant(self, request: Request, tokens: int) -> None:
        """Let a request compute `tokens` tokens."""
        self.grants[request] = tokens
        self._spend(tokens)

    def join(self, request: Request, tokens: int) -> None:
        """Let a request that was waiting compute `tokens` tokens."""
        if request.preemptions:
            self.resumed.append(request)
        else:
            self.admitted[request] = request.computed
        self.grant(request, tokens)

    def withdraw(self, victim: Request) -> None:
        """Take back what a request was granted in this step; it stands on its own afterwards."""
        if victim.joined >= 0:
            self._state.lockstep.leave(victim)
            if self._lockstep:
                self._spend(-1)
        else:
            self._spend(-self.grants.pop(victim, 0))
            self._state.stragglers.remove(victim)
            self._state.kv.forget(victim)

    def preempt(self, preemption: Preemption, swap: Swap | None) -> None:
        """Note a victim, and the copy of its blocks if it was swapped out."""
        self.preemptions.append(preemption)
        if swap is not None:
            self._out.append(swap)

    def swap_in(self, swap: Swap) -> None:
        """Note a copy back to the device."""
        self._in.append(swap)

    def plan(self, ended: tuple[str, ...]) -> StepPlan | None:
        """The immutable plan; None if nothing happens in this step."""
        if not (self._state.granted or self.preemptions):
            return None
        return StepPlan(
            self._state.step,
            self._state.now_ns,
            self._padded_load() if self._state.config.batching == "padded" else self._load(),
            self._state.granted,
            self._order(),
            self.grants,
            self.admitted,
            tuple(self.resumed),
            tuple(self.preemptions),
            tuple(self._out),
            tuple(self._in),
            ended,
            self._state.lockstep.tick,
        )

    def _order(self) -> tuple[Request, ...]:
        """Who computes, in the order granted: running order, unless everyone stood alone."""
        if not self._state.lockstep.size:
            return tuple(self.grants)
        running = self._state.running
        if self._state.lockstep.size + len(self.grants) == len(running):
            return tuple(running)
        return tuple(r for r in running if r.joined >= 0 or r in self.grants)

    def _load(self) -> StepLoad:
        lockstep = self._state.lockstep
        decodes = sampled = lockstep.size
        decode_kv = lockstep.context + decodes
        if not self.grants and not self._out:
            return StepLoad(decodes, decode_kv, 0, 0, 0, 0, sampled)
        prefills = prefill_tokens = prefill_kv = pairs = 0
        for request, tokens in self.grants.items():
            start = request.computed
            end = start + tokens
            sampled += end == request.known
            if is_prefill(request, start):
                prefills += 1
                prefill_tokens += tokens
                prefill_kv += end
                pairs += tokens * start + tokens * (tokens + 1) // 2
            else:
                decodes += 1
                decode_kv += end
        return StepLoad(
            decodes,
            decode_kv,
            prefills,
            prefill_tokens,
            prefill_kv,
            pairs,
            sampled,
            sum(len(swap.sources) for swap in self._out),
            sum(len(swap.sources) for swap in self._in),
        )

    def _padded_load(self) -> StepLoad:
        """The same step in a batch whose rows are as long as the longest."""
        state = self._state
        rows = [(state.lockstep.computed(r), self.grants.get(r, 1)) for r in self._order()]
        copied_out = sum(len(swap.sources) for swap in self._out)
        copied_in = sum(len(swap.sources) for swap in self._in)
        return padded(rows, [request.computed for request in state.held])._replace(
            blocks_out=copied_out, blocks_in=copied_in
        )
