"""Watches what the hooks of a policy do to the engine."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from sched_core.policy.stack import Policy
from sched_core.policy.views import Host
from sched_core.request import Request
from sched_core.scheduler.views import EngineHost, EngineRequestView

_BESIDE = ("blocks", "host_blocks", "view", "hits", "hits_version")
"""Compared by content, or none of a policy's business: asking for hits remembers them."""
_FIELDS = tuple(name for name in Request.__slots__ if name not in _BESIDE)
_of_request = attrgetter(*_FIELDS)
_COUNTS = ("step", "now_ns", "budget_left", "granted", "seats", "watermark_blocks")
_of_host = attrgetter(
    "state.step",
    "state.now_ns",
    "builder.budget_left",
    "builder.granted",
    "state.seats",
    "state.watermark_blocks",
)


class Facts(NamedTuple):
    """What of the engine's state a view leads to."""

    counts: tuple[int, ...]
    running: list[Request]
    waiting: list[Request]
    free_blocks: list[int]
    free_host_blocks: list[int]
    requests: list[Request]
    of_requests: list[tuple[Any, ...]]


def guard_state(policy: Policy) -> list[str]:
    """What the hooks of a policy, which has not run yet, will have changed: filled by the run."""
    changes: list[str] = []
    for hook in policy.hooks.values():
        for call in hook.calls:
            what = f"{call.who}, in {hook.name}, changed"
            call.ask = _guarded(call.ask, policy, what, changes)
    return changes


def _guarded(
    call: Callable[..., Any], policy: Policy, who: str, changes: list[str]
) -> Callable[..., Any]:
    def compare(act: Callable[[], Any], asked: Sequence[Request] = ()) -> Any:
        before = _facts(policy.host, asked)
        try:
            return act()
        finally:
            after = _facts(policy.host, asked)
            if before != after:
                changes.append(f"{who} {_difference(before, after)}")

    def pulled(answer: Iterator[Any]) -> Iterator[Any]:
        """A generator may change things between its answers."""
        done = object()
        while (item := compare(lambda: next(answer, done))) is not done:
            yield item

    def guarded(*args: Any) -> Any:
        asked = [each._request for each in args if isinstance(each, EngineRequestView)]
        answer = compare(lambda: call(*args), asked)
        return pulled(answer) if isinstance(answer, Iterator) else answer

    return guarded


def _facts(host: Host, asked: Sequence[Request]) -> Facts:
    """`asked` are those that a hook is asked about: they may be on their way to the queue."""
    assert isinstance(host, EngineHost)
    state = host.state
    running, waiting = list(state.running), state.waiting.ordered()
    requests = list(dict.fromkeys((*asked, *running, *waiting)))
    return Facts(
        _of_host(host),
        running,
        waiting,
        state.kv.device.free_order(),
        state.kv.host.free_order(),
        requests,
        [(*_of_request(r), tuple(r.blocks), tuple(r.host_blocks)) for r in requests],
    )


def _difference(before: Facts, after: Facts) -> str:
    """The first field that differs, in words."""
    for name, old, new in zip(_COUNTS, before.counts, after.counts, strict=True):
        if old != new:
            return f"{name} from {old} to {new}"
    for name in ("running", "waiting", "free_blocks", "free_host_blocks"):
        if getattr(before, name) != getattr(after, name):
            return f"{name} from {getattr(before, name)} to {getattr(after, name)}"
    names = (*_FIELDS, "blocks", "host_blocks")
    changed = [
        f"{name} of {request.id} from {was!r} to {now!r}"
        for request, old, new in zip(
            before.requests, before.of_requests, after.of_requests, strict=True
        )
        for name, was, now in zip(names, old, new, strict=True)
        if was != now
    ]
    return changed[0]
