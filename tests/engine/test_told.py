"""What observers are told of steps, one by one and in leaps."""

from collections import Counter

import attrs
from harness import requests

from hwmodels.roofline.gpus import A100
from sched_core import Engine, EngineConfig, Policy, RequestView, SchedulerView, Workload, hookimpl

EXECUTOR = A100().executor("llama-3-8b", block_size=16)
SPECS = requests("A(20,90,@0) B(20,50,@0) C(700,200,@1)")


@attrs.define(eq=False)
class Service:
    """Counts tokens and time as it is told of them."""

    coarse = True

    told: int = 0
    tokens: Counter[str] = attrs.field(factory=Counter)
    clock: list[tuple[float, float, int]] = attrs.field(factory=list)
    seen_at_the_end: set[str] = attrs.field(factory=set)

    @hookimpl
    def tokens_computed(self, request: RequestView, num_tokens: int) -> None:
        self.told += 1
        self.tokens[request.id] += num_tokens

    @hookimpl
    def step_done(self, view: SchedulerView, start: float, end: float, steps: int) -> None:
        self.clock.append((start, end, steps))
        assert view.now == end
        last = {"A": 90, "B": 50, "C": 200}
        self.seen_at_the_end |= {r.id for r in view.running if r.num_output_tokens == last[r.id]}


def run(service: Service, *, leaps: bool) -> Engine:
    config = EngineConfig(num_gpu_blocks=200)
    engine = Engine(config, Policy([("it", service)]), EXECUTOR, Workload(SPECS), leaps=leaps)
    engine.run()
    return engine


def test_service_is_the_same_in_fewer_words() -> None:
    each, coarse = Service(), Service()
    stepped, leapt = run(each, leaps=False), run(coarse, leaps=True)
    assert each.tokens == coarse.tokens == {"A": 109, "B": 69, "C": 899}
    assert coarse.told < each.told / 10
    for service, engine in ((each, stepped), (coarse, leapt)):
        assert sum(steps for *_, steps in service.clock) == engine.recorder.steps
        lasted = sum(end - start for start, end, _ in service.clock)
        assert abs(lasted - engine.recorder.busy_ns / 1e9) < 1e-9
        assert service.clock == sorted(service.clock)
        assert service.seen_at_the_end == {"A", "B", "C"}
    assert all(steps == 1 for *_, steps in each.clock)


def test_who_does_not_say_coarse_is_told_of_every_step() -> None:
    class Fine(Service):
        coarse = False

    service = Fine()
    engine = run(service, leaps=True)
    assert len(service.clock) == engine.recorder.steps
