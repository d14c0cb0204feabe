"""Which part of a run its figures are about: `--warmup` cuts off the ramp, `--drain` the tail."""

import attrs
import numpy as np
from numpy.typing import NDArray

from sched_core.limits import NANOSECONDS, SECONDS, flag
from sched_core.metrics.latency import Columns, finish_ns, in_state
from sched_core.request import RequestState


@attrs.frozen(kw_only=True)
class Window:
    """From `warmup` seconds after the first arrival to the last completion, or, with `drain`, to
    the last arrival: what happens after it, while the load ebbs, is left out.

    Latencies and counts are of the requests that arrive in it, whenever they end: leaving out
    those that end late would leave out the slow ones. Rates are of the requests that end in it,
    whenever they came: those at work when it opens are work done in it too.
    """

    warmup: float = attrs.field(default=0.0, validator=SECONDS)
    drain: bool = attrs.field(default=False, validator=flag)

    def arriving(self, rows: Columns) -> NDArray[np.bool_]:
        """Which requests arrive in it, or would if the run went on."""
        return rows["arrival_ns"] >= self._opens(rows)

    def ending(self, rows: Columns) -> NDArray[np.bool_]:
        """Which requests finish in it."""
        ends = finish_ns(rows)  # NaN compares false
        return (ends >= self._opens(rows)) & (ends <= self._closes(rows))

    def seconds(self, rows: Columns) -> float | None:
        """How long it is; None where nothing finishes in it."""
        if not self.ending(rows).any():
            return None
        return (self._closes(rows) - self._opens(rows)) / NANOSECONDS

    def _opens(self, rows: Columns) -> int:
        arrivals = rows["arrival_ns"]
        first = int(arrivals.min()) if len(arrivals) else 0
        return first + round(self.warmup * NANOSECONDS)

    def _closes(self, rows: Columns) -> int:
        if self.drain:
            stamps = rows["arrival_ns"][~in_state(rows, RequestState.PENDING)]
        else:
            stamps = rows["finish_ns"][in_state(rows, RequestState.FINISHED)]
        return int(stamps.max()) if len(stamps) else 0


WHOLE = Window()
"""Nothing is left out."""
