"""The step under construction: who was granted what, and what the executor will be told."""

from bisect import insort

from sched_core.execution.load import StepLoad, decode_load, mixed_load
from sched_core.execution.plan import (
    NOBODY,
    NewRequest,
    Preemption,
    ScheduledRequest,
    StepPlan,
    Swap,
)
from sched_core.request import Request
from sched_core.scheduler.batching import is_prefill
from sched_core.scheduler.state import SchedulerState


class PlanBuilder:
    """What the current step has decided so far. Used again for every step: see `begin`."""

    __slots__ = (
        "_state",
        "admitted_by",
        "budget_left",
        "chosen",
        "granted",
        "grants",
        "joined",
        "members_granted",
        "preemptions",
        "swapped_in",
        "swapped_out",
        "taken_out",
    )

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self.begin(0)

    def begin(self, budget: int) -> None:
        """Start an empty step that may compute `budget` tokens."""
        self.budget_left = budget
        self.granted = 0
        self.grants: dict[Request, int] = {}
        """Tokens of those that stand alone."""
        self.members_granted = 0
        """Of the lockstep, the first so many in running order have their token."""
        self.chosen: list[Request] | None = None
        """The order in which a policy lets everyone run, if it is another and all members of the
        lockstep have their token."""
        self._state.lockstep.grown_seq = -1
        self.joined: dict[Request, int] = {}
        """Who joined the batch in this step -> prefix tokens found in the cache."""
        self.admitted_by = NOBODY
        self.preemptions: list[Preemption] = []
        self.taken_out: set[Request] = set()
        """Of the victims, those that a policy took out before anybody was granted anything."""
        self.swapped_out: list[Swap] = []
        self.swapped_in: list[Swap] = []

    # -- grants ---------------------------------------------------------------------------------

    def _spend(self, tokens: int) -> None:
        self.budget_left -= tokens
        self.granted += tokens

    def grant(self, request: Request, tokens: int) -> None:
        """Let a request compute `tokens` tokens."""
        self.grants[request] = tokens
        self._spend(tokens)

    def grant_members(self, count: int) -> None:
        """Let the next `count` members of the lockstep compute a token each."""
        self.members_granted += count
        self._spend(count)

    def members_before(self, request: Request) -> int:
        """How many members of the lockstep are before a request in running order?"""
        state, seq = self._state, request.admitted_seq
        ahead = sum(1 for other in state.alone if other.admitted_seq < seq)
        return state.running.index(request) - ahead

    def set_apart(self, member: Request) -> None:
        """Let a member that gets no token in this step stand alone."""
        self._state.lockstep.leave(member)
        self._state.kv.settle(member, member.computed)
        insort(self._state.alone, member, key=_running_order)

    def break_lockstep(self) -> None:
        """Treat every running request on its own for the rest of this step."""
        state = self._state
        if not state.lockstep.size:
            return
        members = [r for r in state.running if r.lockstep_since >= 0]
        # what they were granted as members stands; the order of grants is the plan's
        granted = dict.fromkeys(members[: self.members_granted], 1) | self.grants
        self.grants = {r: granted[r] for r in self.chosen or state.running if r in granted}
        self.chosen = None
        self.members_granted = 0
        state.lockstep.disband(members)
        for member in members:
            state.kv.settle(member, member.computed + self.grants.get(member, 0))
        state.alone = list(state.running)

    def join(self, request: Request, tokens: int) -> None:
        """Let a request that was waiting compute `tokens` tokens."""
        self.joined[request] = request.computed
        if self.chosen is not None:
            self.chosen.append(request)
        self.grant(request, tokens)

    def withdraw(self, victim: Request) -> None:
        """Take back what a request was granted in this step; it stands on its own afterwards."""
        state = self._state
        if victim.lockstep_since >= 0:
            # members are granted in running order, so its place says whether it has its token
            granted = self.members_before(victim) < self.members_granted
            state.lockstep.leave(victim)
            state.kv.settle(victim, victim.computed + granted)
            self.grant_members(-granted)
        else:
            self._spend(-self.grants.pop(victim, 0))
            state.alone.remove(victim)
            state.kv.forget(victim)  # blocks that would have been full after this step

    def preempt(self, preemption: Preemption, swap: Swap | None) -> None:
        """Note a victim, and the copy of its blocks if it was swapped out."""
        self.preemptions.append(preemption)
        if swap is not None:
            self.swapped_out.append(swap)

    def swap_in(self, swap: Swap) -> None:
        """Note a copy back to the device."""
        self.swapped_in.append(swap)

    # -- the result -----------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Does nothing at all happen in this step?"""
        return not (self.granted or self.preemptions)

    def order(self) -> list[Request]:
        """Who computes, in the order granted: running order, unless everyone stood alone."""
        running, grants = self.chosen or self._state.running, self.grants
        if not self.members_granted:
            return list(grants)
        if self.members_granted + len(grants) == len(running):  # nobody stands still
            return running
        return [r for r in running if r.lockstep_since >= 0 or r in grants]

    def load(self) -> StepLoad:
        """What the step holds. Every member of the lockstep has its token by now."""
        lockstep, batch = self._state.lockstep, self._state.static_batch
        blocks_out = blocks_in = 0
        if self.swapped_out or self.swapped_in:
            blocks_out = sum(len(swap.sources) for swap in self.swapped_out)
            blocks_in = sum(len(swap.sources) for swap in self.swapped_in)
        if batch is not None and batch.padded:
            rows = [(lockstep.computed(r), self.grants.get(r, 1)) for r in self.order()]
            return batch.load(rows)._replace(blocks_out=blocks_out, blocks_in=blocks_in)
        if not self.grants and not blocks_out:
            return decode_load(lockstep.size, lockstep.context)
        decodes = sampled = lockstep.size
        context, chunks = lockstep.context, []
        for request, tokens in self.grants.items():
            computed = request.computed
            sampled += computed + tokens == request.prompt_len + request.emitted
            if is_prefill(request, computed):
                chunks.append((computed, tokens))
            else:
                decodes += 1
                context += computed
        return mixed_load(decodes, context, chunks, sampled, blocks_out, blocks_in)

    def plan(self, load: StepLoad) -> StepPlan:
        """The plan, as plain data."""
        state = self._state
        new = [r for r in self.joined if not r.preemptions]
        return StepPlan(
            state.step,
            state.now_ns,
            load,
            self.granted,
            tuple(self._share(r, self.grants.get(r, 1)) for r in self.order()),
            tuple(NewRequest(r.id, r.prompt_len, r.prefix, self.joined[r]) for r in new),
            tuple(r.id for r in self.joined if r.preemptions),
            tuple(self.preemptions),
            tuple(self.swapped_out),
            tuple(self.swapped_in),
            tuple(state.ended_ids),
            self.admitted_by if self.joined else NOBODY,  # as in a leap, where nobody is asked
        )

    def plan_of_leap(self, start_ns: int, steps: int) -> StepPlan:
        """The plan of the first of `steps` alike, of which all but the last are over."""
        state, lockstep, back = self._state, self._state.lockstep, steps - 1
        size = lockstep.size
        return StepPlan(
            state.step - back,
            start_ns,
            decode_load(size, lockstep.context - back * size),
            size,
            tuple(self._share(request, 1, back) for request in state.running),
            finished_req_ids=tuple(state.ended_ids),
        )

    def _share(self, request: Request, tokens: int, back: int = 0) -> ScheduledRequest:
        """What a request computes, or did so many steps ago."""
        lockstep, size = self._state.lockstep, self._state.config.block_size
        computed = lockstep.computed(request) - back
        end = computed + tokens
        samples = end == request.prompt_len + lockstep.emitted(request) - back
        blocks = tuple(request.blocks[: -(-end // size)])
        return ScheduledRequest(request.id, tokens, computed, blocks, samples)


def _running_order(request: Request) -> int:
    return request.admitted_seq
