"""What a hook may see: read-only, the present only.

No true output length, no future arrival, no wall clock can be reached through a view. These are
contracts: the engine's views fulfil them, and so may those of a real server.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sched_core.execution.load import StepLoad
from sched_core.request import RequestState
from sched_core.workload.spec import Cell

if TYPE_CHECKING:
    import numpy as np

    from sched_core.execution.executor import Costs


class RequestView(Protocol):
    """A request as a policy sees it. One object per request and run, so `is` and `in` work."""

    @property
    def id(self) -> str:
        """Name in the workload."""

    @property
    def tenant(self) -> str:
        """Whose request it is."""

    @property
    def priority(self) -> int:
        """As given by the client; smaller is more urgent."""

    @property
    def prompt_len(self) -> int:
        """Prompt tokens."""

    @property
    def ttft_slo(self) -> float | None:
        """Seconds in which its first token is to come; None where nobody said."""

    @property
    def tpot_slo(self) -> float | None:
        """Seconds that a further token is to take, on average."""

    @property
    def e2el_slo(self) -> float | None:
        """Seconds in which its last token is to come."""

    @property
    def deadline(self) -> float | None:
        """When its last token is to be there, in seconds on the clock of `now`."""

    @property
    def weight(self) -> float:
        """How much it counts; 1 where nobody said."""

    @property
    def session(self) -> str | None:
        """The conversation that it is a turn of."""

    @property
    def turn(self) -> int:
        """Which turn of its session, from 0."""

    @property
    def think_time(self) -> float | None:
        """Seconds that its client took after the answer before."""

    @property
    def extra(self) -> Mapping[str, Cell]:
        """Further columns of the workload, as given there."""

    @property
    def submission(self) -> int:
        """Position in the workload, for ties."""

    @property
    def state(self) -> RequestState:
        """Where it is."""

    @property
    def num_preemptions(self) -> int:
        """How often it lost its place."""

    @property
    def arrival(self) -> float:
        """Arrival, in seconds."""

    @property
    def num_computed_tokens(self) -> int:
        """Positions whose K and V are in memory; 0 after a preemption by recompute."""

    @property
    def num_output_tokens(self) -> int:
        """Output tokens emitted so far; kept over preemptions."""

    @property
    def num_tokens(self) -> int:
        """Known tokens: prompt + emitted."""

    @property
    def num_blocks(self) -> int:
        """Device blocks that it holds, shared ones included."""

    @property
    def is_running(self) -> bool:
        """Is it in the batch?"""

    @property
    def is_prefill(self) -> bool:
        """Has it known tokens left to compute beyond one new decode token?"""

    @property
    def lacks(self) -> Literal["blocks", "seat"] | None:
        """What the beneficiary of `select_victim` lacks while that is asked: "seat" where as many
        run as may, else "blocks"; None of any other request."""

    @property
    def predicted_output(self) -> float | None:
        """Output tokens in all, as the stack's `predict_output` says; None without a predictor."""


class WaitingView(Protocol):
    """The waiting queue in order of effective priority, as of the last scan, read lazily.

    Keys that move are asked again when admission begins to scan the queue, which a step without
    budget left, or without a seat for anybody, does not do; before that the order is that of an
    earlier step.

    It may be iterated while requests leave it: the next one is always the one behind the last.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any: ...

    def __iter__(self) -> Iterator[RequestView]: ...

    def __contains__(self, request: object) -> bool: ...


class SchedulerView(Protocol):
    """The engine as a policy sees it during one step."""

    @property
    def waiting(self) -> WaitingView:
        """The waiting requests, in order of effective priority."""

    @property
    def running(self) -> Sequence[RequestView]:
        """The running requests, in order of admission."""

    @property
    def step(self) -> int:
        """Number of this step, from 0."""

    @property
    def budget_left(self) -> int:
        """Tokens still to be given away in this step."""

    @property
    def granted_tokens(self) -> int:
        """Tokens granted in this step so far."""

    @property
    def free_blocks(self) -> int:
        """Device blocks that can be taken now."""

    @property
    def total_blocks(self) -> int:
        """Device blocks in the pool."""

    @property
    def free_host_blocks(self) -> int:
        """Host blocks free for swaps."""

    @property
    def block_size(self) -> int:
        """Tokens in a block."""

    @property
    def costs(self) -> "Costs":
        """The hardware model's word on marginal costs, in s."""

    @property
    def rng(self) -> "np.random.Generator":
        """Seeded for this run: the only randomness."""

    @property
    def now(self) -> float:
        """The step's start, in seconds."""

    @property
    def seats_left(self) -> int:
        """Requests that may still join the batch (max_num_seqs - running)."""

    @property
    def victims(self) -> Sequence[RequestView]:
        """The running requests that `select_victim` may name: all but those that joined in this
        very step, or compute a block in it that another request has hit."""

    @property
    def load(self) -> StepLoad:
        """What the running requests put into a step that holds their decodes only."""

    def fits(self, request: RequestView) -> bool:
        """Would `request` be admitted if it were yielded now, without taking anyone's place?

        Asks `can_admit`, `chunk_size` and `reserve_blocks`. A `select_victim` that makes room for
        waiting requests may admit it all the same.
        """

    def blocks_needed(self, request: RequestView) -> int:
        """Free blocks that the request's known sequence takes beyond what it holds or shares."""

    def freed_by(self, request: RequestView) -> int:
        """Blocks that would become free if `request` were preempted: its unshared ones."""

    def cached_prefix(self, request: RequestView) -> int:
        """Tokens that a prefix-cache hit would save `request` now."""


class Host(Protocol):
    """Who asks a policy: the little that its answers are checked against, and errors name."""

    @property
    def step(self) -> int:
        """Number of the present step."""

    @property
    def now(self) -> float:
        """Seconds."""

    def owns(self, request: object) -> bool:
        """Is it the view of a request, and of this host's?"""

    def all_running(self, requests: list[RequestView]) -> bool:
        """Are they running requests of this host's, each once? The quick answer: False may also
        mean that it is not known."""

    def may_be_preempted(self, request: RequestView) -> bool:
        """May `select_victim` name it?"""

    def true_output_len(self, request: RequestView) -> int:
        """What only an oracle may know."""
