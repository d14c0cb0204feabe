"""Fairness among tenants by virtual token counters."""

from collections import deque
from collections.abc import Iterator
from math import inf

import attrs
from attrs.validators import ge, lt

from sched_core import RequestState, RequestView, SchedulerView, hookimpl, toolbox


@attrs.define(eq=False)
class VirtualTokenCounter:
    """Serves the tenant that has been served least.

    Rule: every tenant has a counter of the service it got, divided by its weight. The tenant with
    the lowest counter among those with waiting requests is next, its requests in order of arrival;
    the first that does not fit ends admission. A prompt counts `w_p` a token when it is admitted,
    an output `w_q` a token as it is emitted; work done again after a preemption is not counted
    again. When a tenant's queue turns from empty to non-empty its counter is lifted to the lowest
    of the waiting tenants (of the last tenant that waited, where none does), so that nobody saves
    up service while idle. A preempted request returns to the head of its tenant's queue.
    Parameters: `w_p`, `w_q`, service per token; `weights`, shares such as `gold@4/free@1`, 1 for
    tenants not named.
    Guarantee: while two tenants of weight 1 have requests waiting all along, the services they get
    differ by at most 2 max(w_p L, w_q M), L the longest prompt and M the pool, both in tokens.
    Source: Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024, algorithm 2.
    Fails by: it takes nothing from running requests, so unfairness can last as long as they do;
    and it separates requests that could share a cached prefix.
    """

    coarse = True

    w_p: float = attrs.field(default=1.0, validator=[ge(0), lt(inf)])
    w_q: float = attrs.field(default=2.0, validator=[ge(0), lt(inf)])
    weights: str = ""
    counters: dict[str, float] = attrs.field(init=False, factory=dict)
    """Tenant -> service so far, lifts included."""
    _since_lift: dict[str, tuple[float, int, int]] = attrs.field(init=False, factory=dict)
    """Tenant -> its counter at its last lift, and the prompt and output tokens since: integers,
    so that tokens told one by one and many at once come to the same float."""
    _weight_of: dict[str, float] = attrs.field(init=False)
    _queues: dict[str, deque[RequestView]] = attrs.field(init=False, factory=dict)
    """Tenant -> its waiting requests; none is empty."""
    _emitted: dict[str, int] = attrs.field(init=False, factory=dict)
    """Request id -> output tokens counted so far; its prompt is counted if it is here."""
    _last_to_wait: str = attrs.field(init=False, default="")
    """Whose queue was the last to become empty."""

    def __attrs_post_init__(self) -> None:
        self._weight_of = toolbox.parse_weights(self.weights)

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        while self._queues:
            least_served = min(self._queues, key=self.counters.__getitem__)
            request = self._queues[least_served][0]
            yield request
            if not request.is_running:  # a chunk of 0: it must not be offered for ever
                return

    @hookimpl
    def request_arrived(self, request: RequestView) -> None:
        self._queue_of(request.tenant).append(request)

    @hookimpl
    def request_preempted(self, request: RequestView) -> None:
        self._queue_of(request.tenant).appendleft(request)

    @hookimpl
    def request_admitted(self, request: RequestView) -> None:
        self._leave(request)
        if request.id not in self._emitted:
            self._emitted[request.id] = 0
            self._charge(request.tenant, request.prompt_len, 0)

    @hookimpl
    def tokens_computed(self, request: RequestView) -> None:
        fresh = request.num_output_tokens - self._emitted[request.id]
        self._emitted[request.id] += fresh
        self._charge(request.tenant, 0, fresh)

    @hookimpl
    def request_finished(self, request: RequestView) -> None:
        self._emitted.pop(request.id, None)
        queued = self._queues.get(request.tenant, ())
        if request.state is not RequestState.FINISHED and request in queued:
            self._leave(request)

    def _charge(self, tenant: str, prompt: int, output: int) -> None:
        base, prompts, outputs = self._since_lift[tenant]
        prompts, outputs = prompts + prompt, outputs + output
        self._since_lift[tenant] = base, prompts, outputs
        service = self.w_p * prompts + self.w_q * outputs
        self.counters[tenant] = base + service / self._weight_of.get(tenant, 1.0)

    def _queue_of(self, tenant: str) -> deque[RequestView]:
        """The tenant's queue, which is about to get a request."""
        if tenant not in self._queues:
            self._lift(tenant)
            self._queues[tenant] = deque()
        return self._queues[tenant]

    def _lift(self, tenant: str) -> None:
        before, floor = self.counters.get(tenant), self._floor()
        if before is None or before < floor:
            self.counters[tenant] = max(0.0, floor)
            self._since_lift[tenant] = self.counters[tenant], 0, 0

    def _floor(self) -> float:
        """Where a tenant that starts to wait stands at least."""
        if self._queues:
            return min(self.counters[tenant] for tenant in self._queues)
        return self.counters.get(self._last_to_wait, 0.0)

    def _leave(self, request: RequestView) -> None:
        queue = self._queues[request.tenant]
        queue.remove(request)
        if not queue:
            del self._queues[request.tenant]
            self._last_to_wait = request.tenant
