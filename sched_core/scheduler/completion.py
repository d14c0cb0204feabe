"""After a step: progress, tokens and times are taken in, and who is done leaves."""

from collections.abc import Sequence

from sched_core.request import Request, RequestState
from sched_core.scheduler import notices
from sched_core.scheduler.plan_builder import PlanBuilder
from sched_core.scheduler.state import SchedulerState


def take_in(state: SchedulerState, builder: PlanBuilder, end_ns: int) -> Sequence[Request]:
    """Take in a step that ended at `end_ns`; returns who finished, in the order granted."""
    start_ns, state.now_ns = state.now_ns, end_ns
    done = _advance_lockstep(state, end_ns)
    emitters = [r for r, n in builder.grants.items() if _advance(state, r, n, start_ns, end_ns)]
    notices.tell_computed(state, builder)
    notices.tell_done(state, start_ns, 1)
    # after the observers, who may want to see the last tokens of those that end
    done += [request for request in emitters if request.emitted >= request.output_len]
    if len(done) > 1:
        finishing = set(done)  # members and others, in one order: it shows in records and queues
        done = [request for request in builder.order() if request in finishing]
    finish(state, done)
    _fall_in(state, builder, emitters)
    if state.static_batch is not None:  # the last one may have been preempted
        state.static_batch.let_go(state.kv, state.running)
    state.kv.end_step()
    state.step += 1
    return done


def take_in_leap(
    state: SchedulerState, start_ns: int, end_ns: int, steps: int
) -> Sequence[Request]:
    """The same of a leap: the last of `steps` steps, in which members of the lockstep computed a
    token each; of the others the lockstep knows already."""
    state.now_ns = end_ns
    done = state.lockstep.advance(end_ns)
    notices.tell_repeated(state, steps)
    notices.tell_done(state, start_ns, steps)
    if len(done) > 1:
        done.sort(key=lambda request: request.admitted_seq)
    finish(state, done)
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
    if request.preempted_since_ns is not None:
        request.end_wait(start_ns)
    state.recorder.recomputed_tokens += request.compute(tokens)
    if request.computed < request.prompt_len + request.emitted:
        return False
    request.emitted += 1
    if request.last_token_ns is None:
        request.first_token_ns = end_ns
    else:
        state.recorder.gaps(end_ns - request.last_token_ns, 1)
    request.last_token_ns = end_ns
    return True


def finish(state: SchedulerState, done: Sequence[Request]) -> None:
    """Let those go that have emitted their last token."""
    batch = state.static_batch
    for request in done:
        leave(state, request)
        if batch is None:
            state.kv.release(request)
        else:
            batch.hold(request)
        notices.end(state, request, RequestState.FINISHED)


def leave(state: SchedulerState, request: Request) -> None:
    """Take a request out of the running ones."""
    state.stir()
    if request.lockstep_since >= 0:
        state.lockstep.leave(request)
    else:
        state.alone.remove(request)
    state.running.remove(request)
    state.running_views.discard(request.view)


def _fall_in(state: SchedulerState, builder: PlanBuilder, emitters: list[Request]) -> None:
    """Who emitted a token and runs on goes with the others from now on."""
    if not emitters:
        return
    for request in emitters:
        if request.state is RequestState.RUNNING:
            state.lockstep.join(request)
    state.alone = [request for request in state.alone if request.lockstep_since < 0]
