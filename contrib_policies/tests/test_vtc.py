"""VTC: who is next, what is counted, and the paper's bound."""

from collections.abc import Sequence
from random import Random

import attrs
import pytest
from sched_contrib.fair.vtc import VirtualTokenCounter

from hwmodels.constant import Constant
from sched_core import (
    EngineConfig,
    InputError,
    RequestSpec,
    RequestView,
    SchedulerView,
    Workload,
    hookimpl,
)
from sched_core.engine.engine import Engine
from sched_core.policy.stack import Policy


def serve(
    policy: str | list[tuple[str, object]], specs: Sequence[RequestSpec], **settings: int
) -> Engine:
    """A finished run on a pool too small for everyone, one second a step."""
    config = EngineConfig(**{"num_gpu_blocks": 100, "block_size": 16, **settings})
    stack = Policy.from_spec(policy) if isinstance(policy, str) else Policy(policy)
    hardware = Constant(step=1.0).executor(None, block_size=config.block_size)
    engine = Engine(config, stack, hardware, Workload(specs))
    engine.run()
    return engine


@attrs.define(eq=False)
class Witness:
    """Measures by itself: each tenant's service, who waits, and the worst gap between two."""

    w_p: float = 1.0
    w_q: float = 2.0
    share: dict[str, float] = attrs.field(factory=dict)
    waiting: dict[str, int] = attrs.field(factory=dict)
    service: dict[str, float] = attrs.field(factory=dict)
    worst_gap: float = 0.0
    _seen: set[str] = attrs.field(factory=set)

    def _served(self, request: RequestView, service: float) -> None:
        tenant = request.tenant
        weighted = service / self.share.get(tenant, 1.0)
        self.service[tenant] = self.service.get(tenant, 0.0) + weighted
        if len(self.waiting) > 1 and all(self.waiting.values()):
            levels = [self.service.get(tenant, 0.0) for tenant in self.waiting]
            self.worst_gap = max(self.worst_gap, max(levels) - min(levels))

    def _waits(self, request: RequestView, change: int) -> None:
        self.waiting[request.tenant] = self.waiting.get(request.tenant, 0) + change

    @hookimpl
    def request_arrived(self, request: RequestView) -> None:
        self._waits(request, 1)

    @hookimpl
    def request_preempted(self, request: RequestView) -> None:
        self._waits(request, 1)

    @hookimpl
    def request_admitted(self, request: RequestView) -> None:
        self._waits(request, -1)
        if request.id not in self._seen:
            self._seen.add(request.id)
            self._served(request, self.w_p * request.prompt_len)

    @hookimpl
    def tokens_computed(self, request: RequestView, num_tokens: int) -> None:
        before = request.num_tokens - 1 - request.num_computed_tokens
        if before <= 0:  # everything known is computed: the step ended with a token
            self._served(request, self.w_q)


def flood(seed: int, prompts: dict[str, int], n: int = 120) -> list[RequestSpec]:
    """Tenants that all send `n` requests at once; their prompts and outputs differ in length."""
    random = Random(seed)
    return [
        RequestSpec(
            f"{tenant}{i}", 0.0, random.randint(1, top), random.randint(1, top), tenant=tenant
        )
        for i in range(n)
        for tenant, top in prompts.items()
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_paper_s_bound_holds_while_both_wait(seed: int) -> None:
    specs = flood(seed, {"big": 200, "small": 20})
    bound = 2 * max(1 * 200, 2 * 100 * 16)
    gaps = {}
    for name in ("vtc", "fcfs"):
        witness = Witness()
        first = [] if name == "fcfs" else [("vtc", VirtualTokenCounter())]
        engine = serve([*first, ("witness", witness)], specs)
        assert engine.recorder.preemptions > 0
        gaps[name] = witness.worst_gap
    assert gaps["vtc"] <= bound < gaps["fcfs"]


def test_counters_equal_the_service_measured_from_outside() -> None:
    vtc, witness = VirtualTokenCounter(w_p=1.5, w_q=0.5), Witness(1.5, 0.5)
    specs = flood(1, {"a": 60, "b": 60}, n=40)
    serve([("vtc", vtc), ("witness", witness)], specs, num_gpu_blocks=2000)  # nobody is lifted
    assert vtc.counters == pytest.approx(witness.service)


def test_weights_share_the_service() -> None:
    share = {"gold": 3.0, "free": 1.0}
    vtc, witness = VirtualTokenCounter(weights="gold@3"), Witness(share=share)
    specs = flood(0, {"gold": 100, "free": 100}, n=300)
    serve([("vtc", vtc), ("witness", witness)], specs)
    assert 0 < witness.worst_gap <= 2 * max(100, 2 * 100 * 16)


def order_of_admission(specs: list[RequestSpec], policy: str = "vtc") -> list[str]:
    engine = serve(policy, specs, max_num_seqs=1)
    started = engine.recorder.columns()["first_scheduled_ns"]
    return [specs[row].id for row in started.argsort(kind="stable")]


def request(name: str, arrival: float = 0.0, prompt: int = 10, output: int = 1) -> RequestSpec:
    return RequestSpec(name, arrival, prompt, output, tenant=name[0])


def test_least_served_tenant_goes_first() -> None:
    specs = [request(name) for name in ("a1", "a2", "a3", "a4", "b1", "b2")]
    assert order_of_admission(specs) == ["a1", "b1", "a2", "b2", "a3", "a4"]
    assert order_of_admission(specs, "fcfs") == ["a1", "a2", "a3", "a4", "b1", "b2"]


def test_a_weight_of_two_goes_twice() -> None:
    specs = [request(f"{tenant}{i}") for tenant in "ab" for i in range(6)]
    order = order_of_admission(specs, "vtc:weights=a@2")
    assert [name[0] for name in order[:9]] == list("abaabaaba")


def test_an_idle_tenant_saves_nothing_up() -> None:
    """b comes when a has been served 8 times: from there they alternate, b does not catch up."""
    specs = [request(f"a{i}") for i in range(16)]
    specs += [request(f"b{i}", arrival=7.5) for i in range(4)]
    order = order_of_admission(specs)
    assert order[:8] == [f"a{i}" for i in range(8)]
    assert [name[0] for name in order[8:14]] == list("ababab")


def test_lifted_to_the_last_that_waited_where_nobody_does() -> None:
    """a0 runs alone and queues nobody; b then starts where a stood, so the two alternate."""
    specs = [request("a0"), request("b0", 5.0), request("b1", 5.0), request("a1", 5.0)]
    vtc = VirtualTokenCounter()
    serve([("vtc", vtc)], specs, max_num_seqs=1)
    assert vtc.counters == {"a": 24.0, "b": 36.0}


def test_one_tenant_alone_is_served_as_by_fcfs() -> None:
    specs = flood(3, {"a": 150})
    vtc, fcfs = serve("vtc", specs), serve("fcfs", specs)
    assert vtc.recorder.preemptions > 0
    for name, column in fcfs.recorder.columns().items():
        assert (vtc.recorder.columns()[name] == column).all(), name


def test_a_request_that_can_never_fit_leaves_the_queue() -> None:
    vtc = VirtualTokenCounter()
    serve([("vtc", vtc)], [request("a1", prompt=5000), request("a2")])
    assert vtc._queues == vtc._emitted == {}


def test_a_chunk_of_nothing_ends_admission() -> None:
    @attrs.define(eq=False)
    class Late:
        @hookimpl
        def chunk_size(self, view: SchedulerView, request: RequestView, limit: int) -> int:
            return 0 if request.id == "a1" and view.step < 3 else limit

    engine = serve(
        [("vtc", VirtualTokenCounter()), ("late", Late())],
        [request("b1", output=5), request("a1", arrival=1.0)],
    )
    row = engine.recorder.columns()["first_scheduled_ns"]
    assert list(row) == [0, 3_000_000_000]


def test_parameters_come_from_the_stack_s_text() -> None:
    with pytest.raises(InputError, match="w_q"):
        serve("vtc:w_q=-1", [request("a1")])
    with pytest.raises(InputError, match=r"field 'weights'"):
        serve("vtc:weights=gold", [request("a1")])
