"""The scheduler's state, in one place, and the questions that can be answered from it alone."""

from collections.abc import Sequence

import numpy as np

from sched_core.config import EngineConfig
from sched_core.execution.executor import Costs
from sched_core.execution.plan import StepLoad
from sched_core.limits import NANOSECONDS
from sched_core.memory.kv_cache import KVCache
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.request import Request, RequestState
from sched_core.scheduler.lockstep import Lockstep
from sched_core.scheduler.views import SchedulerView
from sched_core.scheduler.waiting import WaitingQueue


class SchedulerState:
    """Who is where, and what the current step has given away."""

    __slots__ = (
        "admissions",
        "budget_left",
        "config",
        "costs",
        "ended",
        "forming",
        "granted",
        "held",
        "joined",
        "kv",
        "lockstep",
        "now_ns",
        "policy",
        "recorder",
        "restless",
        "rng",
        "running",
        "seats",
        "static",
        "step",
        "stragglers",
        "view",
        "waiting",
        "watermark_blocks",
    )

    def __init__(
        self, config: EngineConfig, policy: Policy, costs: Costs, recorder: Recorder, seed: int
    ) -> None:
        assert config.num_gpu_blocks is not None
        self.config = config
        self.static = config.batching != "continuous"
        self.seats = config.seats
        self.watermark_blocks = int(config.watermark * (config.num_gpu_blocks + 1))
        """vLLM counts its null block, hence the + 1."""
        self.kv = KVCache(
            config.num_gpu_blocks,
            config.block_size,
            config.num_cpu_blocks,
            caching=config.enable_prefix_caching,
        )
        self.policy = policy
        self.costs = costs
        self.recorder = recorder
        self.rng = np.random.default_rng(seed)
        self.waiting = WaitingQueue(self._key)
        self.running: list[Request] = []
        """In order of admission."""
        self.stragglers: list[Request] = []
        """The running requests outside lockstep, in order of admission."""
        self.lockstep = Lockstep(config.block_size)
        self.held: list[Request] = []
        """Ended members of a static batch, which keep their blocks until the longest ends."""
        self.forming = False
        """May requests still join the static batch that is being filled?"""
        self.admissions = 0
        """How often a request joined the batch."""
        self.restless: set[str] = set()
        """Tenants to which something happened since the queue was last sorted anew."""
        self.ended: list[str] = []
        """Ids that ended since the last plan."""
        self.joined: dict[Request, None] = {}
        """Who joined the batch in this step."""
        self.step = 0
        self.now_ns = 0
        self.budget_left = 0
        self.granted = 0
        self.view = SchedulerView(self)
        policy.attach(self)

    def _key(self, request: Request) -> float:
        if "effective_priority" not in self.policy.uses:
            return 0.0
        return self.policy.effective_priority(request.view, self.now_ns / NANOSECONDS)

    def may_be_preempted(self, request: Request) -> bool:
        """Is it running, did not join in this very step, and computes nothing now that another
        request already counts on as a prefix hit?"""
        return (
            request.state is RequestState.RUNNING
            and request not in self.joined
            and not (request.joined < 0 and self.kv.is_relied_on(request))
        )

    def limit(self, request: Request, computed: int) -> int:
        """The most tokens that the request may compute now, from position `computed`.

        0 where chunking is off and the prompt does not fit the rest of the budget.
        """
        lack = request.known - computed
        if not self.config.enable_chunked_prefill:
            return lack if lack <= self.budget_left else 0
        threshold = self.config.long_prefill_token_threshold
        if threshold and len(self.running) + len(self.waiting) > 1:
            lack = min(lack, threshold)
        return min(lack, self.budget_left)

    def chunk(self, request: Request, computed: int) -> int:
        """Tokens for this step; 0 if it cannot, or by its policy shall not, run now."""
        tokens = self.limit(request, computed)
        if (
            tokens
            and "chunk_size" in self.policy.uses
            and self.config.enable_chunked_prefill
            and is_prefill(request, computed)
        ):
            tokens = self.policy.chunk_size(self.view, request.view, tokens)
        return tokens

    def has_room(self, request: Request, tokens: int, hits: Sequence[int]) -> bool:
        """Is there memory to admit a waiting request with a table of `tokens` tokens?"""
        free = self.kv.free_blocks
        first = self.kv.blocks_taken(tokens, hits)
        if first > free:
            return False
        demanded = self.policy.reserve_blocks(self.view, request.view)
        if demanded is None:
            whole = self.config.scheduler_reserve_full_isl
            demanded = self.kv.blocks_taken(request.known, hits) if whole else first
            demanded += self.watermark_blocks if self.running else 0
        return demanded <= free

    def blocks_needed(self, request: Request) -> int:
        """Free blocks that the whole known sequence would take."""
        if request.state is RequestState.RUNNING:
            known = request.prompt_len + self.lockstep.emitted(request)
            return max(0, self.kv.blocks_for(known) - len(request.blocks))
        return self.kv.blocks_taken(request.known, self.kv.hits(request))

    def fits(self, request: Request) -> bool:
        """Would a waiting request be admitted now, without taking anyone's place?"""
        if request.state is RequestState.RUNNING or request.preempted_step == self.step:
            return False
        if self.budget_left <= 0 or len(self.running) >= self.seats:
            return False
        hits = self.kv.hits(request)
        computed = self.kv.start_of(request, hits)
        if not self.limit(request, computed) or not self.policy.can_admit(self.view, request.view):
            return False
        tokens = self.chunk(request, computed)
        return tokens > 0 and self.has_room(request, computed + tokens, hits)

    def decode_load(self) -> StepLoad:
        """A step in which every running request that decodes computes its next token."""
        lone = [r for r in self.stragglers if not lacks_prefill(r)]
        decodes = self.lockstep.size + len(lone)
        return StepLoad(
            decodes=decodes,
            decode_kv_tokens=self.lockstep.context + sum(r.computed for r in lone) + decodes,
            sampled=decodes,
        )


def lacks_prefill(request: Request) -> bool:
    """Is a running request outside lockstep still in its prefill?"""
    return is_prefill(request, request.computed)


def is_prefill(request: Request, computed: int) -> bool:
    """Does it lack more than one new decode token from position `computed`?"""
    return request.emitted == 0 or request.known - computed > 1
