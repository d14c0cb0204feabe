"""The decisions a policy takes, and the events it may watch.

A component is an attrs class; its methods marked `@hookimpl` answer some of these hooks and may
leave out arguments that they do not need. Two rules hold everywhere:

* None means "no opinion": the next component of the stack is asked, the engine's vLLM default
  last. "Nobody" is `NO_VICTIM`; "none" is an empty iterable.
* Everything handed in is read-only, shows the present only, and is valid during the call.
  Observers are told after the fact and may answer nothing.

Each entry says: what is asked, the arguments with units, what may be returned, what happens on
None, when it is called, and an example.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final

import pluggy

from sched_core.execution.plan import PreemptMode
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.request import Key

PROJECT = "schedfw"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class _NoVictim(Enum):
    NO_VICTIM = "nobody"


RECOMPUTE: Final = PreemptMode.RECOMPUTE
SWAP: Final = PreemptMode.SWAP
NO_VICTIM: Final = _NoVictim.NO_VICTIM
"""Answer of `select_victim` that means: preempt nobody."""


class Decisions:
    """Questions: the leftmost component with an opinion decides."""

    @hookspec(firstresult=True)
    def effective_priority(self, request: RequestView, now: float) -> Key | None:
        """Who goes first? Orders the waiting queue and, by default, picks the victim.

        Arguments: `request`; `now` in seconds.
        Answer: a finite number, or a tuple of such numbers, as many for every request of a run;
        lower is served first, of tuples by the first number that differs. Ties go by arrival, then
        submission.
        On None: 0 for everyone, which is first come, first served.
        Called: as the class attribute `priority_moves` says: "static" once whenever the request
        enters the queue; "clock" likewise, with `now` 0 for everyone, where time moves all keys
        alike; "event" again after something happened to it or to its tenant, "time"
        (the default) again and again; both when admission begins to scan the queue, in the steps
        in which `select_admissions` is called.

            @hookimpl
            def effective_priority(self, request):
                return request.prompt_len
        """

    @hookspec(firstresult=True)
    def select_admissions(self, view: SchedulerView) -> Iterable[RequestView] | None:
        """Which waiting requests join the batch now?

        Arguments: `view`; `view.waiting` is in order of effective priority.
        Answer: an iterable of waiting requests, best a generator: each one yielded is admitted at
        once if it fits, so that the next yield sees the new state. The first that does not fit
        (and gets no room from `select_victim`) ends admission. What follows a `yield` may never
        run, since nobody comes back to it once the seats or the budget are used up or a request
        did not fit: note before the `yield`, or in `request_admitted`, whose turn is next.
        On None: `view.waiting` in order, so the head blocks those behind it, as in vLLM.
        Called: in every step that preempted nobody so far, has waiters, budget left, and a seat, or
        somebody whom `select_victim` may name for a seat: without a seat none of them `fits`, and
        who is yielded all the same asks for one. As the class attribute `admission_moves` says:
        "event" lets the engine leave it out while nobody comes or goes, no memory comes free and
        the others only decode; "time" (the default) does not. It speaks for `can_admit`,
        `reserve_blocks`, `chunk_size` and `select_victim` of the component too.

            @hookimpl
            def select_admissions(self, view):
                return (request for request in view.waiting if view.fits(request))
        """

    @hookspec(firstresult=True)
    def chunk_size(self, view: SchedulerView, request: RequestView, limit: int) -> int | None:
        """How much of a prompt runs in this step?

        Arguments: `view`; `request`, in or before its prefill; `limit`, the most tokens allowed.
        Answer: 0..limit tokens; more is cut to limit; 0 leaves the request out of this step.
        On None: `limit`.
        Called: for every request that prefills (or recomputes) in a step, never for a decode, and
        per `view.fits(request)`. Not called with enable_chunked_prefill off.

            @hookimpl
            def chunk_size(self, limit):
                return min(limit, 512)
        """

    @hookspec(firstresult=True)
    def select_victim(
        self, view: SchedulerView, beneficiary: RequestView
    ) -> "RequestView | _NoVictim | None":
        """Whose place is taken when blocks, or seats, are short?

        Arguments: `view`; `beneficiary`, the request that lacks blocks or a seat, as
        `beneficiary.lacks` says. It is running (`beneficiary.is_running`) and lacks blocks, or a
        waiting one that was chosen for admission.
        Answer: a running request, which may be the beneficiary itself, or NO_VICTIM: a running
        beneficiary then stalls for this step, a waiting one is not admitted.
        On None: for a running beneficiary the one with the worst effective priority, then the
        latest arrival; for a waiting one nobody, as in vLLM.
        Called: again until the beneficiary fits or was itself the victim; for a waiting one first
        until it has a seat, then until it has blocks. A step without budget left, and a static or
        padded batch, ask for no seat. A component with the class attribute `yields_to = "running"`
        says that it names nobody for those that wait; where all components say so, it is not asked
        for them.

            @hookimpl
            def select_victim(self, view, beneficiary):
                if beneficiary.is_running:
                    return max(view.victims, key=lambda request: request.num_blocks)
        """

    @hookspec(firstresult=True)
    def select_preemptions(self, view: SchedulerView) -> Iterable[RequestView] | None:
        """Who loses its place now, whether or not anything is short?

        Arguments: `view`, before anything is granted.
        Answer: requests of `view.running`, each at most once. They lose their places together,
        once all are named, in the mode of `choose_preempt_mode`, for the benefit of nobody in
        particular: their blocks and seats are free at once, for whoever is admitted in this step.
        They themselves are passed over until the next one.
        On None: nobody.
        Called: at the start of every step with something running, which gives up the fast path
        for undisturbed decodes. As the class attribute `preemption_moves` says: "event" lets the
        engine leave it out while nobody comes or goes and all that run only decode, until the time
        that `wake_at` names; "time" (the default) does not.

            @hookimpl
            def select_preemptions(self, view):
                return [r for r in view.running if view.waiting and view.step % 32 == 31]
        """

    @hookspec(firstresult=True)
    def choose_preempt_mode(self, view: SchedulerView, victim: RequestView) -> PreemptMode | None:
        """Recompute the victim's KV cache later, or swap it to the host?

        Arguments: `view`, with `view.costs` in seconds; `victim`.
        Answer: RECOMPUTE or SWAP.
        On None: RECOMPUTE, all that vLLM V1 has.
        Called: once per preemption, before any block is freed.

            @hookimpl
            def choose_preempt_mode(self, victim):
                return SWAP if victim.num_computed_tokens > 4096 else RECOMPUTE
        """

    @hookspec(firstresult=True)
    def predict_output(
        self, request: RequestView, true_output_len: Callable[[RequestView], int] | None
    ) -> float | None:
        """How many tokens will this request emit in all?

        Arguments: `request`; `true_output_len`, a function for components that declare
        `oracle = True`, None for all others.
        Answer: a finite number of tokens >= 0.
        On None: `request.predicted_output` is None.
        Called: whenever a component reads `request.predicted_output`.

            @hookimpl
            def predict_output(self, request):
                return 2.0 * request.prompt_len
        """

    @hookspec(firstresult=True)
    def can_admit(self, view: SchedulerView, request: RequestView) -> bool | None:
        """Is this waiting request allowed in, memory and budget aside?

        Arguments: `view`; `request`, next in admission order.
        Answer: True, or False: the request does not fit, and without `select_admissions` those
        behind it wait as well.
        On None: True.
        Called: once per admission attempt and per `view.fits(request)`.

            @hookimpl
            def can_admit(self, view, request):
                return len(view.running) < 8
        """

    @hookspec(firstresult=True)
    def reserve_blocks(self, view: SchedulerView, request: RequestView) -> int | None:
        """How many blocks must be free before this request is admitted?

        Arguments: `view`; `request`.
        Answer: blocks >= 0. They are a threshold, not an allocation; the blocks of the first
        chunk must be free in any case.
        On None: the blocks of its whole known sequence (only of the first chunk with
        scheduler_reserve_full_isl off), plus the watermark while something is running.
        Called: once per admission attempt and per `view.fits(request)`.

            @hookimpl
            def reserve_blocks(self, view, request):
                return view.blocks_needed(request) + len(view.running)
        """

    @hookspec(firstresult=True)
    def order_running(self, view: SchedulerView) -> Iterable[RequestView] | None:
        """Who of the running requests runs in this step, in which order?

        Arguments: `view`; `view.running` is in order of admission.
        Answer: running requests, each at most once. Whoever is left out keeps its blocks and
        waits for a later step.
        On None: all of them, in order of admission.
        Called: at the start of every step with something running. A policy with this hook gives
        up the fast path for undisturbed decodes.

            @hookimpl
            def order_running(self, view):
                return sorted(view.running, key=lambda request: request.is_prefill)
        """

    @hookspec(firstresult=True)
    def step_budget(self, view: SchedulerView) -> int | None:
        """How many tokens may this step compute?

        Arguments: `view`, before anything is granted.
        Answer: 1..max_num_batched_tokens; more is cut.
        On None: max_num_batched_tokens.
        Called: at the start of every step.

            @hookimpl
            def step_budget(self, view):
                return 512 if view.running else 2048
        """

    @hookspec(firstresult=True)
    def reject_request(self, view: SchedulerView, request: RequestView) -> str | None:
        """Shall this request be turned away, rather than served too late?

        Arguments: `view`; `request`, which waits and has never run.
        Answer: the reason, a text: the request is rejected at once, and counted so. It is in no
        statistic of latencies, and no request that met its limits.
        On None: it is kept.
        Called: when it arrives, before it is in the queue; then, in every step that preempted
        nobody so far, for the head of `view.waiting`, again for the next one where that is
        rejected, and for any other request before it is offered a place; for each once a step.
        Never for one that lost its place: what it emitted was sent. `admission_moves` speaks for
        it too: without "event" decodes are not run many at a time while anybody waits.

            @hookimpl
            def reject_request(self, view, request):
                return "waited 60 s" if view.now - request.arrival > 60 else None
        """

    @hookspec
    def wake_at(self, view: SchedulerView) -> float | None:
        """When is there something to decide again, if nothing else happens before?

        Arguments: `view`, of the step that has just been decided.
        Answer: seconds on the clock of `view.now`. A step is decided then, or when the one in
        flight ends; a time that is not to come any more counts as None.
        On None: no step is decided while nothing can be granted and nobody comes. Of several
        components that name a time, the earliest counts.
        Called: after every step that is decided, also one that granted nothing, while anybody
        waits or runs, and before many decode steps are run at once, which the time named ends. So
        `admission_moves = "event"` holds for answers that change at that time.

            @hookimpl
            def wake_at(self, view):
                return 10.0 if view.waiting else None
        """


class Events:
    """Observers: every component of the stack is told, left to right.

    `now` is when it happened, so it may go back: arrivals within a step are told after what that
    step computed, with times before its end.
    """

    @hookspec
    def request_arrived(self, request: RequestView, now: float) -> None:
        """`request` entered the system at `now` seconds, also one that is rejected at once."""

    @hookspec
    def request_admitted(self, request: RequestView, now: float) -> None:
        """`request` joined the batch, for the first time or again after a preemption."""

    @hookspec
    def tokens_computed(self, request: RequestView, num_tokens: int, now: float) -> None:
        """The step that ended at `now` computed `num_tokens` positions of `request`. A component
        with the class attribute `coarse = True` may be told once of many steps of one each."""

    @hookspec
    def step_done(self, view: SchedulerView, start: float, end: float, steps: int) -> None:
        """`steps` steps ran from `start` to `end` seconds, in which nobody came or went; those
        that are done with the last one are still in `view.running`. The clock of a policy that
        counts the service it gives."""

    @hookspec
    def request_preempted(self, request: RequestView, mode: PreemptMode, now: float) -> None:
        """`request` lost its place; `mode` is what really happened, after any fall-back."""

    @hookspec
    def request_finished(self, request: RequestView, now: float) -> None:
        """`request` ended; `request.state` says how: FINISHED, REJECTED or ABORTED. Told exactly
        once per request that arrived; drop what is kept for it here."""
