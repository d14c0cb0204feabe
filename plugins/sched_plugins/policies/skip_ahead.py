"""Let small requests pass one that does not fit, a bounded number of times."""

import math
from collections.abc import Iterator
from itertools import islice

import attrs
from attrs.validators import ge

from sched_core import RequestView, SchedulerView, hookimpl


@attrs.define(eq=False)
class SkipAhead:
    """Who fits may pass who does not, within a bound.

    Rule: in order of the queue, every waiting request that fits is admitted. Each one admitted
    counts as a by-pass for every request ahead of it that did not fit; once a request has been
    by-passed `max_bypasses` times in its life, nothing may pass it.
    Parameters: `max_bypasses`, a count, 0 is strict order; `window`, how many of the first waiting
    requests are looked at in one step, so that a long queue costs no more than a short one.
    Source: vLLM PR 33499 (head-of-line blocking on KV, issue 31731); the bound is the answer to
    the starvation that the plain form brings.
    Fails by: filling the pool to the last block, so that those running lack room to grow and evict
    each other; the head that blocks under fcfs leaves such room by accident. `watermark` gives it
    back. The request that is passed waits longer.
    """

    admission_moves = "event"

    max_bypasses: int = attrs.field(default=16, validator=ge(0))
    window: int = attrs.field(default=16, validator=ge(1))
    _bypasses: dict[str, int] = attrs.field(init=False, factory=dict)

    @hookimpl
    def select_admissions(self, view: SchedulerView) -> Iterator[RequestView]:
        passed: list[str] = []
        left = math.inf  # by-passes that those in `passed` still suffer
        for request in islice(view.waiting, self.window):
            if view.fits(request):
                self._count(passed)  # before the yield: after the last seat nobody comes back
                left -= 1
                yield request
            else:
                passed.append(request.id)
                left = min(left, self.max_bypasses - self._bypasses.get(request.id, 0))
            if left <= 0:
                return

    def _count(self, passed: list[str]) -> None:
        for name in passed:
            self._bypasses[name] = self._bypasses.get(name, 0) + 1

    @hookimpl
    def request_finished(self, request: RequestView) -> None:
        self._bypasses.pop(request.id, None)
