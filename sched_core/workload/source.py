"""What a workload plugin gives the engine."""

from collections.abc import Sequence
from typing import Any, Protocol, Self, runtime_checkable

import attrs

from sched_core.workload import frame as frames
from sched_core.workload.chains import separated
from sched_core.workload.spec import RequestSpec
from sched_core.workload.stamps import Unit


@attrs.frozen(slots=True)
class Workload:
    """Requests in submission order, and what was left out on the way.

    The engine serves them by (arrival, position); equal arrivals keep their order here.
    """

    requests: Sequence[RequestSpec]
    dropped: dict[str, int] = attrs.field(factory=dict)
    """Rows left out -> why and how many, e.g. {"failed (0 tokens)": 17}."""
    max_concurrency: int | None = None
    """Closed loop: a request is sent only while fewer than this many are in the system. Its
    `arrival` is then the earliest time, and its latency starts when it is sent (vLLM)."""
    description: dict[str, object] = attrs.field(factory=dict)
    """The setting, for the head of a table: plain JSON values, in a fixed order."""

    @classmethod
    def from_frame(cls, frame: Any, *, unit: Unit | None = None, **columns: str) -> Self:
        """The requests of a data frame, or of a dict of columns: `arrival="start_time"` says which
        column holds a field, if not that of its name.

        Arrivals are dates, or numbers in `unit`, by default seconds. Raises InputError or
        UnknownName naming column, row and value.
        """
        requests, description = frames.read(frame, unit, columns)
        return cls(requests, description=description)

    def with_chains(self) -> Self:
        """The workload with hash ids that are chains, as `HashedPrefix` asks for.

        An id that stands after two prefixes is split into two, and `description` says so.
        """
        requests, told = separated(self.requests)
        if told is None:
            return self
        return attrs.evolve(
            self, requests=requests, description={**self.description, "hash_ids": told}
        )


@runtime_checkable
class WorkloadSource(Protocol):
    """What an entry point of group `schedfw.workloads` names: an attrs class whose fields are its
    parameters (`poisson:request_rate=5:n=1000`)."""

    def build(self, seed: int) -> Workload:
        """The workload. The same seed gives the same requests, in any process.

        Raises InputError naming file, line, field and value when the input cannot be used.
        """
