"""Which request enters the system when: open loop by its stamp, closed loop by a free slot."""

from collections import deque
from collections.abc import Sequence

from sched_core.config import EngineConfig
from sched_core.errors import InputError
from sched_core.limits import NANOSECONDS
from sched_core.request import Request
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec


class Arrivals:
    """The requests that are still to come, by (arrival, position in the workload)."""

    def __init__(self, workload: Workload) -> None:
        specs = workload.requests
        self._stamps = [round(spec.arrival * NANOSECONDS) for spec in specs]
        _refuse_duplicates(specs)
        self._specs = specs
        self._order = sorted(range(len(specs)), key=lambda row: (self._stamps[row], row))
        self._next = 0
        self._free_since: deque[int] | None = None
        if workload.max_concurrency is not None:
            slots = min(workload.max_concurrency, len(specs))  # more are never taken
            self._free_since = deque([0] * slots)

    def __len__(self) -> int:
        return len(self._order) - self._next

    def next_ns(self) -> int | None:
        """When the next request comes; None if none is left or all slots are taken."""
        if self._next == len(self._order):
            return None
        stamp = self._stamps[self._order[self._next]]
        if self._free_since is None:
            return stamp
        return max(stamp, self._free_since[0]) if self._free_since else None

    def pop(self) -> Request:
        """The next request, stamped with the time at which it is sent."""
        arrival_ns = self.next_ns()
        assert arrival_ns is not None
        row = self._order[self._next]
        self._next += 1
        if self._free_since is not None:
            self._free_since.popleft()
        return Request(self._specs[row], row, arrival_ns)

    def ended(self, now_ns: int, count: int) -> None:
        """`count` requests left the system, so as many slots are free."""
        if self._free_since is not None:
            self._free_since.extend([now_ns] * count)


def _refuse_duplicates(specs: Sequence[RequestSpec]) -> None:
    seen: set[str] = set()
    for row, spec in enumerate(specs):
        if spec.id in seen:
            raise InputError(
                f"request number {row + 1} has the id of an earlier one",
                field="id",
                value=spec.id,
                expected="unique ids",
            )
        seen.add(spec.id)


def refuse_hopeless(workload: Workload, config: EngineConfig) -> None:
    """Raise InputError for a workload of which no request can be served: a mistake, not a run."""
    reason = None
    for spec in workload.requests:
        reason = refusal(spec, config)
        if reason is None:
            return
    if reason is None:
        raise InputError("the workload has no request", expected="at least one request")
    raise InputError(
        f"no request of the workload can ever be served; the last one: {reason}",
        expected="requests of at least one prompt and one output token that fit the pool, the "
        "budget and max_model_len",
    )


def refusal(spec: RequestSpec | Request, config: EngineConfig) -> str | None:
    """Why a request can never be served under `config`; None if it can.

    A request needs room for prompt + output - 1 tokens: the last one is never computed.
    """
    if spec.prompt_len < 1:
        return "empty prompt"
    if spec.output_len < 1:
        return "no output token asked for"
    total = spec.prompt_len + spec.output_len
    if config.max_model_len is not None and total > config.max_model_len:
        return f"prompt + output of {total} tokens > max_model_len {config.max_model_len}"
    need = -(-(total - 1) // config.block_size)
    if need > (config.num_gpu_blocks or 0):
        return f"needs {need} KV blocks > the pool's {config.num_gpu_blocks}"
    return _too_long_for_one_step(spec.prompt_len, total - 1, config)


def _too_long_for_one_step(prompt: int, whole: int, config: EngineConfig) -> str | None:
    budget = config.max_num_batched_tokens
    if config.enable_chunked_prefill or whole <= budget:
        return None
    if prompt > budget:
        return f"prompt of {prompt} tokens > max_num_batched_tokens {budget}, chunking is off"
    return f"a recompute of up to {whole} tokens > max_num_batched_tokens {budget}, chunking is off"
