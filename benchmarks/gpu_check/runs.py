"""The runs whose tokens are compared: a pool that is far too small, blocks shared."""

from collections.abc import Sequence
from functools import cache

import attrs
import torch

from gpu_check.check import Setting
from hwmodels.constant import Constant, ConstantCosts
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.model.models import load
from hwmodels.torch_executor.prompts.prompts import SyntheticPrompts
from hwmodels.torch_executor.testing import Emitting, PoisonFree, Watched, generated
from sched_core import Engine, EngineConfig, Policy, RequestSpec, SharedPrefix, Workload

BLOCK_SIZE = 4
POLICIES = {"fcfs": "schedfw/fcfs", "fcfs+swap": "schedfw/fcfs+schedfw/swap"}


@attrs.frozen
class Ran:
    """What came of a run."""

    tokens: dict[str, list[int]]
    preemptions: int
    swap_outs: int


def specs(setting: Setting) -> list[RequestSpec]:
    """Requests of which some begin alike."""
    return [
        RequestSpec(
            f"r{n}", n // 4, 20 + 13 * (n % 5), 30, prefix=SharedPrefix(n % 2, 16 * (1 + n % 3))
        )
        for n in range(4 if setting.quick else 12)
    ]


@cache
def loaded(name: str, device: torch.device) -> LoadedModel:
    """In float64: the same weights on any device."""
    return load(name, dtype="float64", device=device, seed=0)


def expected(setting: Setting, name: str) -> dict[str, list[int]]:
    """What `generate` gives each request on the CPU, alone."""
    model = loaded(name, torch.device("cpu"))
    prompts = SyntheticPrompts(1, model.vocab)
    return {
        spec.id: list(generated(model, tuple(prompts(spec)), spec.output_len))
        for spec in specs(setting)
    }


def run(setting: Setting, runner: StepRunner, policy: str, *, poisoned: bool = True) -> Ran:
    """Serve `specs`, recomputing or swapping; `poisoned` is with NaN wherever nobody owns."""
    requests = specs(setting)
    config = EngineConfig(
        max_num_batched_tokens=64,
        block_size=BLOCK_SIZE,
        num_gpu_blocks=40,
        num_cpu_blocks=400,
        enable_prefix_caching=True,
        scheduler_reserve_full_isl=False,
    )
    kind = Watched if poisoned else Emitting
    executor = kind(
        runner, SyntheticPrompts(1, runner.loaded.vocab), ConstantCosts(Constant(step=1.0)), {}
    )
    watchers = [PoisonFree(runner.pool)] if poisoned else []
    built = Policy.from_spec(POLICIES[policy])
    engine = Engine(config, built, executor, Workload(requests), watchers=watchers)
    for watcher in watchers:
        watcher.follow(engine)
    recorder = engine.run()
    return Ran(executor.emitted, recorder.preemptions, recorder.swap_outs)


def differing(found: Ran, right: dict[str, list[int]]) -> list[str]:
    """Requests that got other tokens, and from which on."""
    return [
        f"{name} differs from token {_first_difference(found.tokens.get(name, []), row)} on"
        for name, row in right.items()
        if found.tokens.get(name) != row
    ]


def _first_difference(found: Sequence[int], right: Sequence[int]) -> int:
    pairs = enumerate(zip(found, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(found), len(right)))
