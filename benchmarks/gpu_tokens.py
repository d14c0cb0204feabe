"""Does a device give the CPU's tokens, in float64, whatever the scheduler does?

    python benchmarks/gpu_tokens.py --device cuda

Runs the same requests on both, in a pool that is too small, recomputing and swapping, with blocks
shared, for every tiny model. Prints how many requests have the same tokens; exits 1 if one differs.
"""

import sys

import rich_click as click
import torch

from hwmodels.constant import Constant, ConstantCosts
from hwmodels.torch_executor.executor import StepRunner, TorchExecutor
from hwmodels.torch_executor.models import built_in, load
from hwmodels.torch_executor.pool import KVPool
from hwmodels.torch_executor.prompts import SyntheticPrompts
from sched_core import (
    Engine,
    EngineConfig,
    Policy,
    RequestSpec,
    SharedPrefix,
    StepOutcome,
    StepPlan,
    Workload,
)

SPECS = [
    RequestSpec(
        f"r{n}", n // 4, 20 + 13 * (n % 5), 30, prefix=SharedPrefix(n % 2, 16 * (1 + n % 3))
    )
    for n in range(12)
]
CONFIG = EngineConfig(
    max_num_batched_tokens=64,
    block_size=16,
    num_gpu_blocks=24,
    num_cpu_blocks=100,
    enable_prefix_caching=True,
    scheduler_reserve_full_isl=False,
)


class Collecting(TorchExecutor):
    """Keeps all tokens; every step lasts a second, so that both devices decide alike."""

    def execute(self, plan: StepPlan) -> StepOutcome:
        outcome = super().execute(plan)
        for name, token in (outcome.tokens or {}).items():
            self.setting.setdefault(name, []).append(token)
        return outcome._replace(duration=1.0)


def tokens(model: str, device: str, policy: str) -> tuple[dict[str, list[int]], int]:
    """(tokens by request, preemptions)"""
    loaded = load(model, dtype="float64", device=torch.device(device), seed=0)
    pool = KVPool(loaded.layers, CONFIG.block_size, loaded.dtype, loaded.device, fill=torch.nan)
    prompts = SyntheticPrompts(1, loaded.vocab)
    collected: dict[str, list[int]] = {}
    costs = ConstantCosts(Constant(step=1.0))
    executor = Collecting(StepRunner(loaded, pool), prompts, costs, collected)
    engine = Engine(CONFIG, Policy.from_spec(policy), executor, Workload(SPECS))
    return collected, engine.run().preemptions


@click.command()
@click.option("--device", default="cuda", show_default=True)
def main(device: str) -> None:
    """Compare a device's tokens with the CPU's."""
    torch.set_num_threads(1)
    wrong = 0
    for model in (name for name in built_in() if name.startswith("tiny")):
        for policy in ("fcfs", "fcfs+swap"):
            expected, _ = tokens(model, "cpu", policy)
            found, preemptions = tokens(model, device, policy)
            same = sum(found[name] == row for name, row in expected.items())
            wrong += len(expected) - same
            click.echo(
                f"{model:13} {policy:10} {preemptions:3} preemptions, {same} of {len(SPECS)}"
            )
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
