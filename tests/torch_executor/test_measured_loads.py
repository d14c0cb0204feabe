"""Calibration calls prefill what the engine calls so: a fit sees what a simulation is priced by."""

from collections import Counter
from typing import ClassVar

import attrs
import numpy as np
import pytest

from hwmodels.constant import Constant, ConstantCosts, ConstantExecutor
from hwmodels.torch_executor.measure import Part, Range, chunk, decode, load_of, random_shapes
from sched_core import Engine, EngineConfig, Policy, RequestSpec, StepOutcome, StepPlan, Workload


@attrs.frozen
class Comparing(ConstantExecutor):
    """Holds the load of every plan against that of its requests, as calibration sees them."""

    modelled: ClassVar[bool] = False  # it wants the plans
    costs: ConstantCosts
    prompts: dict[str, int]
    emitted: Counter[str] = attrs.field(factory=Counter)
    steps: list[list[Part]] = attrs.field(factory=list)

    def execute(self, plan: StepPlan) -> StepOutcome:
        step = []
        for share in plan.scheduled:
            emitted = self.emitted[share.id]
            known = self.prompts[share.id] + emitted
            step.append(Part(share.num_computed_tokens, share.num_tokens, known, emitted))
            assert step[-1].samples == share.samples
            self.emitted[share.id] += share.samples
        assert load_of(step) == plan.load
        self.steps.append(step)
        return super().execute(plan)


@pytest.mark.parametrize("seed", range(4))
def test_loads_are_those_of_the_engine(seed: int) -> None:
    """Of prompts whose last chunk is one token, and of recomputes, which begin and end alike."""
    rng = np.random.default_rng(seed)
    specs = [
        RequestSpec(f"r{i}", i / 2, int(rng.integers(1, 40)), int(rng.integers(1, 30)))
        for i in range(60)
    ]
    executor = Comparing(
        ConstantCosts(Constant(step=1.0)), {spec.id: spec.prompt_len for spec in specs}
    )
    config = EngineConfig(
        max_num_batched_tokens=24, max_num_seqs=8, block_size=4, num_gpu_blocks=30,
        scheduler_reserve_full_isl=False,
    )  # fmt: skip
    policy = Policy.from_spec("chunk:size=8")
    Engine(config, policy, executor, Workload(specs)).run()
    parts = [part for step in executor.steps for part in step]
    assert any(part.is_prefill and part.new == 1 and part.computed for part in parts)
    assert any(part.is_prefill and part.emitted for part in parts), "a recompute"
    assert any(not part.is_prefill for part in parts)
    assert any(len({part.is_prefill for part in step}) == 2 for step in executor.steps)


def test_one_token_may_be_either() -> None:
    assert (decode(8).is_prefill, chunk(8, 1).is_prefill) == (False, True)
    step = load_of([decode(8), chunk(8, 1), chunk(8, 1, last=False)])
    assert (step.decodes, step.decode_kv_tokens) == (1, 9)
    assert (step.prefills, step.prefill_tokens, step.prefill_kv_tokens) == (2, 2, 18)
    assert (step.prefill_pairs, step.sampled) == (18, 2)


def test_last_chunks_of_one_token_are_measured_too() -> None:
    parts = [part for shape in random_shapes(Range(), 400, seed=0) for part in shape]
    assert any(part.is_prefill and part.new == 1 and part.computed for part in parts)
