"""The first half of a step: running requests, in order, each get their tokens."""

from collections.abc import Iterable

from sched_core.request import Request, RequestState
from sched_core.scheduler import preemption
from sched_core.scheduler.batching import lacks_prefill
from sched_core.scheduler.offer import chunk
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState
from sched_core.scheduler.views import requests_of


def grant(state: SchedulerState, builder: PlanBuilder) -> None:
    """Give everyone that may run its tokens; in a static batch first those that prefill."""
    batch = state.static_batch
    if batch is not None and batch.prefills(state.alone):
        builder.break_lockstep()
        listed = _chosen(state)
        _grant_each(state, builder, filter(lacks_prefill, listed or list(state.running)))
    else:
        grant_all(state, builder)


def grant_all(state: SchedulerState, builder: PlanBuilder) -> None:
    """Give everyone its tokens, in the policy's order or in that of admission."""
    if (chosen := _chosen(state)) is not None and chosen != state.running:
        if not _grant_whole(state, builder, chosen):
            builder.break_lockstep()
            _grant_each(state, builder, chosen)
        return
    for request in tuple(state.alone):
        if builder.budget_left <= 0:
            break
        if request.state is RequestState.RUNNING:
            if not _grant_members(state, builder, request):
                return
            if request.state is RequestState.RUNNING:  # it may have had to yield to a member
                _grant_one(state, builder, request)
    _grant_members(state, builder, None)


def _chosen(state: SchedulerState) -> list[Request] | None:
    return requests_of(state.policy.order_running(state.view))


def _grant_whole(state: SchedulerState, builder: PlanBuilder, chosen: list[Request]) -> bool:
    """Keep the lockstep where all its members come first, and nothing is short: True if so."""
    lockstep, size = state.lockstep, state.lockstep.size
    if (
        not 0 < size <= builder.budget_left
        or len(chosen) < len(state.running)
        or lockstep.num_due() > state.kv.free_blocks
        or any(request.lockstep_since < 0 for request in chosen[:size])
    ):
        return False
    for member in sorted(lockstep.due(), key=chosen.index):
        state.kv.grow_one(member)
    lockstep.grown_seq = state.admissions  # all of them
    builder.grant_members(size)
    builder.chosen = chosen
    _grant_each(state, builder, chosen[size:])
    return True


def _grant_each(state: SchedulerState, builder: PlanBuilder, requests: Iterable[Request]) -> None:
    """One by one, while the budget lasts; who is preempted meanwhile gets nothing."""
    for request in requests:
        if builder.budget_left <= 0:
            break
        if request.state is RequestState.RUNNING:
            _grant_one(state, builder, request)


def _grant_one(state: SchedulerState, builder: PlanBuilder, request: Request) -> None:
    """Tokens for one request, and the blocks for them, from whoever must yield."""
    tokens = chunk(state, builder, request, request.computed)
    while tokens and not state.kv.grow(request, request.computed + tokens):
        victim = preemption.preempt_for(state, builder, request)
        if victim is None or victim is request:
            return
    if tokens:
        builder.grant(request, tokens)


def _grant_members(state: SchedulerState, builder: PlanBuilder, before: Request | None) -> bool:
    """A token for each member of the lockstep that is before a request, or for all of them.

    False if the budget ended here: everybody stands alone then, and nobody is left to be granted.
    """
    lockstep = state.lockstep
    size = lockstep.size
    if builder.members_granted == size:
        return True
    count = size
    if before is not None and state.running[size] is not state.alone[0]:  # not all are ahead
        count = builder.members_before(before)
    if count - builder.members_granted > builder.budget_left:
        _part_ways(state, builder)
        return False
    if lockstep.num_due():
        _grow_due(state, builder, before)  # who may cost members, or `before`, their place
        if before is None:
            count = lockstep.size
        elif before.state is RequestState.RUNNING:
            count = builder.members_before(before)
        else:
            return True
    builder.grant_members(count - builder.members_granted)
    return True


def _part_ways(state: SchedulerState, builder: PlanBuilder) -> None:
    """The budget does not last for all members: go on one by one."""
    members = [r for r in state.running if r.lockstep_since >= 0]
    first = members[builder.members_granted].admitted_seq
    builder.break_lockstep()
    _grant_each(state, builder, [r for r in state.running if r.admitted_seq >= first])


def _grow_due(state: SchedulerState, builder: PlanBuilder, before: Request | None) -> None:
    """The next block for every member that needs one and is before a request, in order."""
    kv, lockstep = state.kv, state.lockstep
    for member in lockstep.due():  # as they were when this began
        if before is not None and member.admitted_seq > before.admitted_seq:
            break
        if member.lockstep_since < 0:
            continue  # preempted meanwhile
        if member.admitted_seq <= lockstep.grown_seq:
            continue  # it has its block from an earlier call
        if kv.free_blocks or _take_for(state, builder, member):
            kv.grow_one(member)
            lockstep.grown_seq = member.admitted_seq


def _take_for(state: SchedulerState, builder: PlanBuilder, member: Request) -> bool:
    """Have somebody yield to a member that needs a block; True if there is one for it then."""
    # hooks see the step as far as it has got: those ahead of the member have their tokens
    builder.grant_members(builder.members_before(member) - builder.members_granted)
    while not state.kv.free_blocks:
        victim = preemption.preempt_for(state, builder, member)
        if victim is member:
            return False
        if victim is None:
            builder.set_apart(member)
            return False
    return True
