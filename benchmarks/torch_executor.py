"""The torch executor beside transformers' own continuous batching, on the same requests.

    python benchmarks/torch_executor.py --model llama-22m --device cpu --threads 1

Both start with the model loaded and their memory taken, and take turns; ours includes the
scheduler. Then: how much of a step of decodes goes into building its batch.
"""

import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import rich_click as click
import torch
from transformers import ContinuousBatchingConfig, GenerationConfig

from hwmodels.torch_executor import setup
from hwmodels.torch_executor.executor import TorchExecutor
from hwmodels.torch_executor.hardware import Torch
from hwmodels.torch_executor.measure import decode, prepare
from sched_core import Engine, EngineConfig, Policy, RequestSpec, StepOutcome, StepPlan, Workload

BLOCK_SIZE = 16
ROUNDS = 5
BUDGET = 512
"""Tokens per step, of both."""

PAGE = "page_size" if hasattr(ContinuousBatchingConfig, "page_size") else "block_size"
"""What transformers calls a block: it has changed between 5.17 and 5.24."""


@attrs.frozen
class Load:
    """As many requests at once, all alike."""

    requests: int
    prompt: int
    output: int

    @property
    def blocks(self) -> int:
        return self.requests * -(-(self.prompt + self.output) // BLOCK_SIZE)

    def specs(self) -> list[RequestSpec]:
        return [
            RequestSpec(f"r{number}", 0.0, self.prompt, self.output)
            for number in range(self.requests)
        ]


@attrs.frozen
class Listening(TorchExecutor):
    """Keeps what was emitted."""

    emitted: dict[str, list[int]] = attrs.field(factory=dict)

    def execute(self, plan: StepPlan) -> StepOutcome:
        outcome = super().execute(plan)
        for name, token in (outcome.tokens or {}).items():
            self.emitted.setdefault(name, []).append(token)
        return outcome


def ours(executor: TorchExecutor, load: Load) -> tuple[float, list[list[int]]]:
    """(seconds, tokens of each request) of an engine under fcfs."""
    listening = Listening(executor.runner, executor.prompts, executor.costs, executor.setting)
    config = EngineConfig(
        max_num_batched_tokens=BUDGET,
        max_num_seqs=load.requests,
        block_size=BLOCK_SIZE,
        num_gpu_blocks=load.blocks,
    )
    engine = Engine(config, Policy.from_spec("schedfw/fcfs"), listening, Workload(load.specs()))
    started = time.perf_counter()
    engine.run()
    seconds = time.perf_counter() - started
    return seconds, [listening.emitted[spec.id] for spec in load.specs()]


def theirs(model: Any, prompts: list[list[int]], load: Load) -> tuple[float, list[list[int]]]:
    """(seconds, tokens of each request) of `generate_batch`, its manager kept between calls."""
    implementation = model.config._attn_implementation
    model.set_attn_implementation("sdpa")
    batching = ContinuousBatchingConfig(
        **{PAGE: BLOCK_SIZE}, num_blocks=2 * load.blocks, max_batch_tokens=BUDGET
    )
    generation = GenerationConfig(
        max_new_tokens=load.output, do_sample=False, eos_token_id=-1, pad_token_id=0
    )
    started = time.perf_counter()
    found = model.generate_batch(
        prompts,
        generation_config=generation,
        continuous_batching_config=batching,
        persistent_manager=True,
    )
    seconds = time.perf_counter() - started
    model.set_attn_implementation(implementation)
    by_prompt = {tuple(output.prompt_ids): output.generated_tokens for output in found.values()}
    return seconds, [by_prompt[tuple(prompt)] for prompt in prompts]


def batch_building(executor: TorchExecutor, requests: int, context: int) -> tuple[float, float]:
    """(seconds to build a batch of decodes, seconds of the whole step), medians."""
    runner = executor.runner
    shares = prepare(runner, [decode(context - 1)] * requests)
    steps, packs = [], []
    for _ in range(15):
        for share in shares:
            runner.tokens[share.id] = [1] * context
        started = time.perf_counter()
        runner.pack(shares)
        packs.append(time.perf_counter() - started)
        steps.append(runner.run(shares).duration)
    return statistics.median(packs), statistics.median(steps)


def race(
    executors: Mapping[str, TorchExecutor], load: Load, rounds: int = ROUNDS
) -> dict[str, dict[str, Any]]:
    """By name, `generate_batch` the last: seconds of each round, tokens per second, and for how
    many requests the tokens are those of the first."""
    first, *_ = executors.values()
    prompts = [first.prompts(spec) for spec in load.specs()]
    racers: dict[str, Callable[[], tuple[float, list[list[int]]]]] = {
        name: partial(ours, executor, load) for name, executor in executors.items()
    }
    racers["generate_batch"] = partial(theirs, first.runner.loaded.model, prompts, load)
    turns = [{name: run() for name, run in racers.items()} for _ in range(1 + rounds)]
    first.runner.loaded.model.destroy_cached_continuous_batching_manager()
    _, right = next(iter(turns[-1].values()))
    found = {}
    for name in racers:
        seconds = [turn[name][0] for turn in turns[1:]]  # the first warms all up
        rate = load.requests * load.output / statistics.median(seconds)
        same = sum(list(a) == list(b) for a, b in zip(turns[-1][name][1], right, strict=True))
        found[name] = {"seconds": seconds, "tokens_per_second": rate, "same": same}
    return found


@click.command()
@click.option("--model", default="llama-22m", show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--threads", default=1, show_default=True)
@click.option("--requests", default=32, show_default=True)
@click.option("--prompt", default=64, show_default=True, help="Tokens.")
@click.option("--output", default=48, show_default=True, help="Tokens.")
def main(model: str, device: str, threads: int, requests: int, prompt: int, output: int) -> None:
    """The torch executor beside transformers' own continuous batching."""
    load = Load(requests, prompt, output)
    executor = setup.executor(Torch(device=device, threads=threads), model, BLOCK_SIZE)
    machine = executor.describe()["hardware"]
    click.echo(f"{machine}, {threads} threads, torch {torch.__version__}, {model}, {load}")
    for name, row in race({"torch executor": executor}, load).items():
        listed = " ".join(f"{seconds:.2f}" for seconds in sorted(row["seconds"]))
        click.echo(
            f"{name:15} {statistics.median(row['seconds']):6.2f} s "
            f"{row['tokens_per_second']:8.0f} tokens/s   (all: {listed})"
        )
    click.echo(f"same tokens for {row['same']} of {requests} requests")
    for context in (128, 1024):
        build, step = batch_building(executor, requests, context)
        click.echo(
            f"{requests} decodes, context {context}: batch built in {1e3 * build:.2f} ms of "
            f"{1e3 * step:.1f} ms, {build / step:.1%}"
        )


if __name__ == "__main__":
    main()
