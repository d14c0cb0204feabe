"""Whatever the scheduler does, every request gets the tokens of `generate`, run by itself."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from torch_runs import assert_generated, executor, run
from torch_storms import PROMPTS, STORM, storm

from sched_core import EngineConfig, Policy, RequestSpec
from sched_core.catalogue.entries import plugins
from sched_core.engine.servable import refusal
from sched_core.testing.random_policies import policies
from sched_core.testing.strategies import configs

MODELS = ("tiny-llama", "tiny-qwen3", "tiny-mistral", "tiny-gemma", "tiny-moe")


@st.composite
def requests(draw: st.DrawFn) -> list[RequestSpec]:
    """Some of `PROMPTS`, in any order, coming in bunches."""
    arrival, specs = 0.0, []
    for prompt in draw(st.permutations(PROMPTS))[: draw(st.integers(2, len(PROMPTS)))]:
        arrival += draw(st.sampled_from((0.0, 0.0, 1.0, 3.0)))
        specs.append(
            RequestSpec(
                prompt.id,
                arrival,
                prompt.prompt_len,
                draw(st.integers(1, 24)),
                draw(st.integers(0, 3)),
                draw(st.sampled_from(("a", "b"))),
                prompt.prefix,
            )
        )
    return specs


@st.composite
def tight_configs(draw: st.DrawFn) -> EngineConfig:
    """Engines with blocks of 1 to 32 tokens and too few of them."""
    block_size = draw(st.sampled_from((1, 2, 3, 4, 8, 16, 32)))
    enough_for_one = -(-64 // block_size)
    blocks = draw(st.integers(enough_for_one, 2 * enough_for_one + 1))
    host = draw(st.sampled_from((0, 2, 3 * enough_for_one)))
    return draw(configs(block_size=block_size, num_gpu_blocks=blocks, num_cpu_blocks=host))


@given(st.sampled_from(MODELS), requests(), tight_configs(), policies(), st.integers(0, 9))
def test_under_any_legal_policy(
    model: str, specs: list[RequestSpec], config: EngineConfig, component: Any, seed: int
) -> None:
    """Random order, chunks, victims, modes, budgets; NaN wherever nobody owns a slot."""
    assume(any(refusal(spec, config) is None for spec in specs))
    real = executor(model, config.block_size)
    run(real, specs, Policy([("foolish", component)]), config, max_steps=400, seed=seed)
    assert_generated(real, specs)


BUILT_IN = [plugin.name for plugin in plugins("policies") if plugin.distribution == "schedfw"]


@pytest.mark.parametrize("mode", ["recompute", "swap"])
@pytest.mark.parametrize("policy", BUILT_IN)
def test_under_every_built_in_policy(policy: str, mode: str) -> None:
    """In a pool so small that requests lose their places over and over."""
    stack = policy if policy in ("recompute", "swap", "adaptive") else f"{policy}+{mode}"
    real, engine = storm("tiny-llama", stack)
    assert engine.recorder.preemptions > 0
    assert_generated(real, STORM)
    assert {name: len(tokens) for name, tokens in real.emitted.items()} == {
        spec.id: spec.output_len for spec in STORM
    }


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("mode", ["recompute", "swap"])
def test_in_a_storm_of_preemptions(model: str, mode: str, caching: bool) -> None:
    """Every architecture, with and without shared blocks."""
    real, engine = storm(model, f"youngest+{mode}", caching=caching)
    recorder = engine.recorder
    assert recorder.swap_ins > 3 if mode == "swap" else recorder.recomputed_tokens > 30
    assert not caching or recorder.prefix_hits > 0
    assert_generated(real, STORM)
    assert len(real.emitted) == len(STORM)
