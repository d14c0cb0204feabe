"""How long a step takes: device events on CUDA, the monotonic clock on a CPU."""

import time
from types import TracebackType

import torch


class Stopwatch:
    """Measures the body of a `with`; `seconds` afterwards, never 0.

    On CUDA the first event is recorded before the host prepares the step, so the host's share is
    in: the device is idle then, because the last step ended with its tokens being read.
    """

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        self.seconds = 0.0

    def __enter__(self) -> "Stopwatch":
        if self._cuda:
            self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self._begin.record()
        else:
            self._started = time.perf_counter_ns()
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
            self.seconds = max(time.perf_counter_ns() - self._started, 1) / 1e9
