"""After a step: progress, tokens and times are taken in, and who is done leaves."""

from sched_core.execution.plan import StepPlan
from sched_core.request import Request, RequestState
from sched_core.scheduler import notices as events
from sched_core.scheduler.state import SchedulerState


def take_in(state: SchedulerState, plan: StepPlan, end_ns: int) -> list[Request]:
    """Take in a step that ended at `end_ns`; returns who finished, in the order granted."""
    start_ns, state.now_ns = state.now_ns, end_ns
    done = _advance_lockstep(state, end_ns)
    emitters = [r for r, n in plan.grants.items() if _advance(state, r, n, start_ns, end_ns)]
    events.tell_computed(state, plan)
    done += [request for request in emitters if request.emitted >= request.output_len]
    if len(done) > 1:
        finishing = set(done)
        done = [request for request in plan.order if request in finishing]
    for request in done:
        _finish(state, request)
    _fall_in(state, plan, emitters)
    events.let_go(state)
    state.kv.end_step()
    state.step += 1
    return done


def _advance_lockstep(state: SchedulerState, end_ns: int) -> list[Request]:
    """One token for every member; who is done with it."""
    lockstep = state.lockstep
    if not lockstep.size:
        lockstep.emitted_ns = end_ns
        return []
    state.recorder.gaps(end_ns - lockstep.emitted_ns, lockstep.size)
    return lockstep.advance(end_ns)


def _advance(
    state: SchedulerState, request: Request, tokens: int, start_ns: int, end_ns: int
) -> bool:
    """Move a request that was granted tokens by itself; did it emit one?"""
    if request.first_scheduled_ns is None:
        request.first_scheduled_ns = start_ns
    request.end_wait(start_ns)
    state.recorder.recomputed_tokens += request.compute(tokens)
    if request.computed < request.known:
        return False
    request.emitted += 1
    if request.last_token_ns is None:
        request.first_token_ns = end_ns
    else:
        state.recorder.gaps(end_ns - request.last_token_ns, 1)
    request.last_token_ns = end_ns
    return True


def _finish(state: SchedulerState, request: Request) -> None:
    if request.joined >= 0:
        state.lockstep.leave(request)
    state.running.remove(request)
    if state.static:
        state.held.append(request)
    else:
        state.kv.release(request)
    events.end(state, request, RequestState.FINISHED)


def _fall_in(state: SchedulerState, plan: StepPlan, emitters: list[Request]) -> None:
    """Who emitted a token and runs on goes with the others from now on."""
    for request in emitters:
        if request.state is RequestState.RUNNING:
            state.lockstep.join(request)
    if plan.grants or plan.preemptions:
        state.stragglers = [
            request
            for request in state.stragglers
            if request.joined < 0 and request.state is RequestState.RUNNING
        ]
