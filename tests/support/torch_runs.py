"""Real runs for tests: every step lasts a second, so that decisions repeat; tokens are real."""

import math
from collections.abc import Sequence
from functools import cache

import torch

from hwmodels.constant import Constant, ConstantCosts
from hwmodels.torch_executor.executor import StepRunner, TorchExecutor
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.model.models import load
from hwmodels.torch_executor.prompts.prompts import Prompted, SyntheticPrompts
from hwmodels.torch_executor.step.pool import KVPool
from hwmodels.torch_executor.testing import PoisonFree, Watched, generated
from sched_core import Engine, EngineConfig, Policy, RequestSpec, StepRecord, Workload

torch.set_num_threads(1)


@cache
def model(name: str) -> LoadedModel:
    return load(name, dtype="float64", device=torch.device("cpu"), seed=0)


def executor(
    name: str,
    block_size: int,
    *,
    runner: type[StepRunner] = StepRunner,
    temperature: float = 0.0,
) -> Watched:
    loaded = model(name)
    memory = KVPool(loaded.layers, block_size, loaded.dtype, loaded.device, fill=math.nan)
    return Watched(
        runner(loaded, memory, temperature=temperature, seed=5),
        SyntheticPrompts(7, loaded.vocab),
        ConstantCosts(Constant(step=1.0)),
        {},
    )


class Agreement(PoisonFree):
    """Sees too whether executor and engine agree on who emitted how many tokens."""

    def __init__(self, executor: Watched) -> None:
        super().__init__(executor.runner.pool)
        self._emitted = executor.emitted

    def follow(self, engine: Engine) -> None:
        super().follow(engine)
        self._state = engine.state

    def stepped(self, record: StepRecord) -> None:
        for request in self._state.running:
            emitted = len(self._emitted.get(request.id, ()))
            assert emitted == self._state.lockstep.emitted(request), request.id
        super().stepped(record)


def run(
    executor: Watched,
    specs: Sequence[RequestSpec],
    policy: str | Policy,
    config: EngineConfig,
    *,
    max_steps: int = 3000,
    seed: int = 0,
) -> Engine:
    """Run to the end, or until a foolish policy has had `max_steps` steps."""
    engine = Engine(
        config,
        Policy.from_spec(policy) if isinstance(policy, str) else policy,
        executor,
        Workload(specs),
        seed=seed,
        watchers=[watcher := Agreement(executor)],
    )
    watcher.follow(engine)
    steps = 0
    while steps < max_steps and engine.advance():
        steps += 1
    engine.close()
    return engine


LONGEST = 32
"""Output tokens generated per prompt: more than any test's request asks for."""


def expected(executor: TorchExecutor, request: Prompted, count: int) -> list[int]:
    """The first `count` tokens of transformers' own `generate`, alone, with eager attention."""
    prompt = tuple(executor.prompts(request))
    return list(generated(executor.runner.loaded, prompt, LONGEST)[:count])


def assert_generated(executor: Watched, specs: Sequence[RequestSpec]) -> None:
    """What was emitted is what `generate` says, of every request as far as it came."""
    for spec in specs:
        got = executor.emitted.get(spec.id, [])
        assert got == expected(executor, spec, len(got)), spec.id
