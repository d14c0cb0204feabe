"""I: an executor that keeps track, token by token, of what memory holds, from the plans alone."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import attrs

from sched_core.execution.executor import Costs, Executor
from sched_core.execution.plan import ScheduledRequest, StepOutcome, StepPlan, Swap
from sched_core.testing.invariants.registry import Invariant, InvariantError, invariant
from sched_core.workload.sessions import Turn, turns
from sched_core.workload.spec import HashedPrefix, RequestSpec, SharedPrefix

Slots = dict[tuple[int, int], Hashable]
"""(block, offset) -> the token whose K and V are there."""


def token(spec: RequestSpec, turn: Turn | None, position: int) -> Hashable:
    """What identifies a token and all before it; requests with a common prefix share theirs, and
    so do the turns of a session."""
    prefix = spec.prefix
    if position < spec.prompt_len:
        if isinstance(prefix, SharedPrefix) and position < prefix.len:
            return prefix.group, position
        if isinstance(prefix, HashedPrefix):
            return prefix.ids[position // prefix.block_size], position
    elif turn is not None and turn.answer is not None:
        return turn.answer.ids[position // turn.answer.block_size], position
    return spec.id if turn is None else turn.stream, position


@attrs.frozen
class Read:
    """The context that one request of a step attends to."""

    share: ScheduledRequest
    wanted: Sequence[Hashable]
    found: Sequence[Hashable]


@invariant("I4 memory holds what is read", "read")
def memory_holds_what_is_read(read: Read) -> Iterator[str]:
    """Every position before the new ones is where the block table says, whoever computed it."""
    for position, (wanted, found) in enumerate(zip(read.wanted, read.found, strict=True)):
        if wanted != found:
            yield f"{read.share.id} reads {found} at position {position}, where {wanted} should be"


@attrs.define
class ShadowMemory:
    """Device and host memory of an engine."""

    block_size: int
    device: Slots = attrs.field(factory=dict)
    host: Slots = attrs.field(factory=dict)

    def copy(self, out: Iterable[Swap], into: Iterable[Swap]) -> None:
        """Copies to the host happen before those back."""
        for swaps, source, target in (
            (out, self.device, self.host),
            (into, self.host, self.device),
        ):
            for swap in swaps:
                for old, new in zip(swap.sources, swap.targets, strict=True):
                    for offset in range(self.block_size):
                        target[new, offset] = source.get((old, offset))

    def write(self, table: Sequence[int], start: int, tokens: Iterable[Hashable]) -> None:
        """Put tokens at the positions from `start` on."""
        for position, content in enumerate(tokens, start):
            block, offset = divmod(position, self.block_size)
            self.device[table[block], offset] = content

    def read(self, table: Sequence[int], count: int) -> list[Hashable]:
        """What the first `count` positions hold."""
        places = (divmod(position, self.block_size) for position in range(count))
        return [self.device.get((table[block], offset)) for block, offset in places]


class ShadowExecutor:
    """Executes on a shadow memory what another executor prices."""

    def __init__(
        self,
        executor: Executor,
        requests: Iterable[RequestSpec],
        block_size: int,
        checks: Iterable[Invariant],
    ) -> None:
        self._executor = executor
        listed = list(requests)
        places = turns(listed)
        self._specs: Mapping[str, tuple[RequestSpec, Turn | None]] = {
            spec.id: (spec, places.get(row)) for row, spec in enumerate(listed)
        }
        self._memory = ShadowMemory(block_size)
        self._checks = [each for each in checks if each.when == "read"]
        self.capacity, self.describe = executor.capacity, executor.describe

    @property
    def costs(self) -> Costs:
        return self._executor.costs

    def execute(self, plan: StepPlan) -> StepOutcome:
        """Raises InvariantError if a request would read what is not its own context."""
        memory, shares = self._memory, plan.scheduled
        memory.copy(plan.swapped_out, plan.swapped_in)
        for share in shares:  # a step writes all new tokens before it attends to any
            start = share.num_computed_tokens
            memory.write(
                share.block_ids, start, self._tokens(share.id, start, start + share.num_tokens)
            )
        for share in shares:
            start = share.num_computed_tokens
            wanted = self._tokens(share.id, 0, start)
            read = Read(share, wanted, memory.read(share.block_ids, start))
            for each in self._checks:
                for problem in each.check(read):
                    raise InvariantError(each.name, f"step {plan.step}: {problem}")
        return self._executor.execute(plan)

    def _tokens(self, name: str, start: int, end: int) -> list[Hashable]:
        return [token(*self._specs[name], position) for position in range(start, end)]
