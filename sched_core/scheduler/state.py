"""The scheduler's state, in one place; the step under construction is the plan builder's."""

from collections.abc import Callable

import numpy as np

from sched_core.config import EngineConfig
from sched_core.execution.executor import Costs
from sched_core.limits import NANOSECONDS
from sched_core.memory.kv_cache import KVCache
from sched_core.metrics.recorder import Recorder
from sched_core.policy.stack import Policy
from sched_core.policy.views import RequestView, SchedulerView
from sched_core.request import Key, Request
from sched_core.scheduler.batching import StaticBatch, static_batch
from sched_core.scheduler.lockstep import Lockstep
from sched_core.scheduler.waiting import WaitingQueue


class SchedulerState:
    """Who is where."""

    __slots__ = (
        "admissions",
        "alone",
        "beneficiary",
        "config",
        "costs",
        "ended_ids",
        "kv",
        "lockstep",
        "may_shed",
        "may_take_out",
        "nobody_is_taken",
        "nobody_joins",
        "now_ns",
        "policy",
        "recorder",
        "rejected",
        "rng",
        "running",
        "running_views",
        "seats",
        "seats_yield",
        "sheds",
        "static_batch",
        "step",
        "touched_tenants",
        "view",
        "waiting",
        "watermark_blocks",
    )

    view: SchedulerView
    """What the policy sees; set by the scheduler, whose step under construction it shows too."""

    def __init__(
        self, config: EngineConfig, policy: Policy, costs: Costs, recorder: Recorder, seed: int
    ) -> None:
        assert config.num_gpu_blocks is not None
        self.config = config
        self.seats = config.seats
        self.seats_yield = (
            policy.declares.yields_to_waiting and config.batching == "continuous"
        )  # a static batch keeps its members
        """May somebody be asked to give up a seat?"""
        self.may_take_out = "select_preemptions" in policy.uses
        self.may_shed = "reject_request" in policy.uses
        self.sheds: list[Request] = []
        """Who waited and was rejected in this step."""
        self.rejected: dict[str, str] = {}
        """Id -> reason of those rejected since the last record."""
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
        self.waiting = WaitingQueue(self._key(), by_tenant=policy.moves == "event")
        self.running: list[Request] = []
        """In order of admission."""
        self.running_views: set[RequestView] = set()
        self.alone: list[Request] = []
        """The running requests outside lockstep, in order of admission."""
        self.lockstep = Lockstep(config.block_size)
        self.static_batch: StaticBatch | None = static_batch(config)
        """None in continuous batching."""
        self.beneficiary: Request | None = None
        """For whom somebody is being asked to yield."""
        self.admissions = 0
        """How often a request joined the batch."""
        self.nobody_joins = False
        """Does nobody that waits fit, and will nobody until somebody comes or goes?"""
        self.nobody_is_taken = False
        """Does the policy take nobody out, and will it take nobody until then?"""
        self.touched_tenants: set[str] = set()
        """Tenants to which something happened since the queue was last sorted anew."""
        self.ended_ids: list[str] = []
        """Who ended since the last plan."""
        self.step = 0
        self.now_ns = 0

    def stir(self) -> None:
        """Somebody came or went, or a step is decided anew."""
        self.nobody_joins = False
        self.nobody_is_taken = not self.may_take_out

    def num_blocks(self, request: Request) -> int:
        """Device blocks that a request holds, those counted only included."""
        lockstep = self.lockstep
        if not self.kv.by_count or request.lockstep_since < 0:
            return len(request.blocks)
        ahead = request.admitted_seq <= lockstep.grown_seq
        return self.kv.blocks_for(lockstep.computed(request) + ahead)

    def _key(self) -> Callable[[Request], Key] | None:
        """How the queue asks for a key; None where nobody has an opinion."""
        if "effective_priority" not in self.policy.uses:
            return None
        ask = self.policy.effective_priority
        if self.policy.moves == "clock":  # alike at all times, so they compare at any one
            return lambda request: ask(request.view, 0.0)
        return lambda request: ask(request.view, self.now_ns / NANOSECONDS)
