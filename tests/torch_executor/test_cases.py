"""Cases of other projects' faults, with real tokens: O13, and the token half of O05, O08, O09."""

from typing import Any

import pytest
from harness import requests
from torch_runs import assert_generated, executor, run

from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.testing import Watched
from sched_core import Engine, EngineConfig, RequestSpec, SharedPrefix, StepOutcome

TWO = requests("R0(32,32,@0) R1(32,32,@0)")


def served(
    specs: list[RequestSpec], policy: str = "fcfs", *, temperature: float = 0.0, **settings: int
) -> tuple[Watched, Engine]:
    real = executor("tiny-llama", 16, temperature=temperature)
    config = EngineConfig(
        max_num_batched_tokens=256,
        enable_prefix_caching=bool(settings.pop("caching", False)),
        **settings,
    )
    return real, run(real, specs, policy, config)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_o13_output_does_not_depend_on_preemption(temperature: float) -> None:
    """Greedy or drawn: a seeded draw knows request and position only."""
    roomy, _ = served(TWO, num_gpu_blocks=100, temperature=temperature)
    recomputed, engine = served(TWO, num_gpu_blocks=6, temperature=temperature)
    swapped, with_swap = served(
        TWO, "fcfs+swap", num_gpu_blocks=6, num_cpu_blocks=8, temperature=temperature
    )
    assert roomy.emitted == recomputed.emitted == swapped.emitted
    assert [len(tokens) for tokens in roomy.emitted.values()] == [32, 32]
    assert engine.recorder.recomputed_tokens == 48
    assert (with_swap.recorder.swap_ins, with_swap.recorder.recomputed_tokens) == (1, 0)
    if temperature == 0:
        assert_generated(roomy, TWO)


class Noting(StepRunner):
    """Keeps what it ran and what came of it."""

    def run(self, shares: Any, *swaps: Any) -> StepOutcome:
        outcome = super().run(shares, *swaps)
        self.steps = [*getattr(self, "steps", []), (shares, outcome.tokens)]
        return outcome


def test_o13_a_batch_of_one_resumed_request_recomputes_its_emitted_tokens() -> None:
    real = executor("tiny-llama", 16, runner=Noting)
    run(real, TWO, "fcfs", EngineConfig(max_num_batched_tokens=256, num_gpu_blocks=6))
    (share,), emitted = real.runner.steps[32]  # type: ignore[attr-defined]
    assert (share.id, share.num_tokens, share.num_computed_tokens) == ("R1", 49, 0)
    assert list(emitted) == ["R1"]


@pytest.mark.parametrize(("host", "swaps"), [(0, 0), (2, 0), (3, 1)])
def test_o05_with_too_small_a_host_pool(host: int, swaps: int) -> None:
    """The victim falls back to recompute, and loses no token over it."""
    real, engine = served(TWO, "fcfs+swap", num_gpu_blocks=6, num_cpu_blocks=host)
    assert engine.recorder.swap_outs == swaps
    assert_generated(real, TWO)
    assert [len(tokens) for tokens in real.emitted.values()] == [32, 32]


def shared(name: str, arrival: float, prompt: int, output: int) -> RequestSpec:
    return RequestSpec(name, arrival, prompt, output, prefix=SharedPrefix("same", 32))


def test_o08_whole_prompt_cached() -> None:
    """The first token comes from a forward pass, not from nothing."""
    specs = [shared("R0", 0, 32, 1), shared("R1", 1, 32, 1), shared("R2", 2, 33, 1)]
    real, engine = served(specs, num_gpu_blocks=10, caching=True)
    assert engine.recorder.prefix_hits == 16 + 32
    assert real.emitted["R0"] == real.emitted["R1"]
    assert_generated(real, specs)


def test_o09_shared_blocks_outlive_their_first_owner() -> None:
    specs = [shared("R0", 0, 32, 4), shared("R1", 1, 40, 10)]
    real, engine = served(specs, num_gpu_blocks=5, caching=True)
    assert engine.recorder.prefix_hits == 32
    assert engine.recorder.peak_blocks == 4
    assert_generated(real, specs)
    assert [len(tokens) for tokens in real.emitted.values()] == [4, 10]
