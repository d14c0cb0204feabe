"""How long a step takes: device events on CUDA, the monotonic clock on a CPU."""

import time
from collections.abc import Callable
from types import TracebackType

import torch

CPU_CLOCKS: dict[str, Callable[[], int]] = {
    "wall": time.perf_counter_ns,
    "cpu": time.thread_time_ns,
}
"""Nanoseconds. `cpu` leaves out the time in which this thread was not let run: what the step would
take on a machine that nobody else uses, if one thread does all of it."""


class Stopwatch:
    """Measures the body of a `with`; `seconds` afterwards, never 0.

    On CUDA the first event is recorded before the host prepares the step, so the host's share is
    in: the device is idle then, because the last step ended with its tokens being read.
    """

    def __init__(self, device: torch.device, clock: str = "wall") -> None:
        self._cuda = device.type == "cuda"
        self._clock = CPU_CLOCKS[clock]
        self.seconds = 0.0

    def __enter__(self) -> "Stopwatch":
        if self._cuda:
            self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self._begin.record()
        else:
            self._started = self._clock()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._cuda:
            self._end.record()
            self._end.synchronize()
            self.seconds = max(self._begin.elapsed_time(self._end) / 1e3, 1e-9)
        else:
            self.seconds = max(self._clock() - self._started, 1) / 1e9
