"""Real runs for tests: every step lasts a second, so that decisions repeat; tokens are real."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import attrs
import torch

from hwmodels.constant import Constant, ConstantCosts
from hwmodels.torch_executor.executor import StepRunner, TorchExecutor
from hwmodels.torch_executor.loaded import LoadedModel
from hwmodels.torch_executor.models import load
from hwmodels.torch_executor.pool import KVPool
from hwmodels.torch_executor.prompts import Prompted, SyntheticPrompts
from sched_core import Engine, EngineConfig, Policy, RequestSpec, StepOutcome, StepPlan, Workload

torch.set_num_threads(1)


@cache
def model(name: str) -> LoadedModel:
    return load(name, dtype="float64", device=torch.device("cpu"), seed=0)


@attrs.frozen
class Watched(TorchExecutor):
    """Keeps all tokens emitted, and fills every slot that nobody owns with NaN."""

    pads: ClassVar[bool] = True  # steps last a second here, padded or not
    emitted: dict[str, list[int]] = attrs.field(factory=dict)

    def execute(self, plan: StepPlan) -> StepOutcome:
        _poison_unwritten(self.runner.pool, plan)
        outcome = super().execute(plan)
        for name, token in (outcome.tokens or {}).items():
            self.emitted.setdefault(name, []).append(token)
        return outcome._replace(duration=1.0)


def _poison_unwritten(pool: KVPool, plan: StepPlan) -> None:
    """Fill the slots that requests own and have still to write, but for those to be copied out."""
    leaving = {block for swap in plan.swapped_out for block in swap.sources}
    for share in plan.requests():
        first, used = divmod(share.num_computed_tokens, pool.block_size)
        for block in share.block_table[first:]:
            if block not in leaving and block < len(pool.device[0]):
                for tensor in pool.device:
                    tensor[block, used:] = math.nan
            used = 0


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


def poison_free(executor: Watched) -> Any:
    """A watcher that fills all free blocks without cached content, here and on the host, and
    sees whether executor and engine agree on who emitted how many tokens."""

    def watch(plan: StepPlan, state: Any, *_: Any) -> None:
        for request in state.running:
            emitted = len(executor.emitted.get(request.id, ()))
            assert emitted == state.lockstep.emitted(request), request.id
        executor.runner.pool.poison(_contentless(state.kv.device), _contentless(state.kv.host))

    return watch


def _contentless(pool: Any) -> list[int]:
    order: list[int] = pool.free_order()
    return order[: pool.num_free - pool.num_cached_free]


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
        watch=poison_free(executor),
    )
    steps = 0
    while steps < max_steps and engine.advance():
        steps += 1
    engine.close()
    return engine


@cache
def _generated(name: str, prompt: tuple[int, ...], count: int) -> tuple[int, ...]:
    net = model(name).model
    implementation = net.config._attn_implementation
    net.set_attn_implementation("eager")
    try:
        ids = net.generate(
            torch.tensor([prompt]),
            max_new_tokens=count,
            min_new_tokens=count,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
    finally:
        net.set_attn_implementation(implementation)
    return tuple(ids[0, len(prompt) :].tolist())


LONGEST = 32
"""Output tokens generated per prompt: more than any test's request asks for."""


def expected(executor: TorchExecutor, request: Prompted, count: int) -> list[int]:
    """The first `count` tokens of transformers' own `generate`, alone, with eager attention."""
    prompt = tuple(executor.prompts(request))
    return list(_generated(executor.runner.loaded.name, prompt, LONGEST)[:count])


def assert_generated(executor: Watched, specs: Sequence[RequestSpec]) -> None:
    """What was emitted is what `generate` says, of every request as far as it came."""
    for spec in specs:
        got = executor.emitted.get(spec.id, [])
        assert got == expected(executor, spec, len(got)), spec.id
