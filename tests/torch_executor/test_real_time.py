"""Runs in measured time: their clock, their record, the price of their steps."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from harness import requests
from transformers import AutoConfig

from hwmodels.measured.calibration import Measured, read
from hwmodels.measured.linear_costs import FITTED, features
from hwmodels.measured.replay import Replay
from hwmodels.torch_executor import setup
from hwmodels.torch_executor.hardware import Torch
from hwmodels.torch_executor.measure import Range, load_of, random_shapes, random_tokens
from hwmodels.torch_executor.model.models import admitted, from_config
from sched_core import Engine, EngineConfig, InputError, Policy, StepLoad, Workload
from sched_core.watchers.decision_trace import DecisionTrace
from sched_core.watchers.step_times import StepTimes

SPECS = requests("A(30,9,@0) B(17,12,@0.001) C(45,20,@0.002) D(9,3,@0.006) E(20,30,@1000)")
CONFIG = EngineConfig(
    block_size=4, num_gpu_blocks=24, num_cpu_blocks=30, scheduler_reserve_full_isl=False
)


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of this machine, from a few steps: rough, but whole."""
    path: Path = tmp_path_factory.mktemp("machine") / "machine.toml"
    path.write_text(Torch(threads=1).measure("tiny-llama", steps=30, repeats=1), "utf-8")
    return path


def served(executor: Any) -> tuple[Engine, list[str], list[str]]:
    """(the run, its decisions, its step times)"""
    lines: list[str] = []
    times: list[str] = []
    watchers = [DecisionTrace.written(lines.append), StepTimes(times.append)]
    policy = Policy.from_spec("priority-aging+adaptive")
    engine = Engine(CONFIG, policy, executor, Workload(SPECS), watchers=watchers)
    engine.run()
    return engine, lines, times


def test_the_clock_is_what_the_steps_took_and_a_replay_decides_the_same(
    calibrated: Path, tmp_path: Path
) -> None:
    real = Torch(threads=1, costs=str(calibrated)).executor("tiny-llama", block_size=4)
    engine, lines, times = served(real)
    took = [json.loads(line)["ns"] for line in times[1:]]
    assert engine.recorder.busy_ns == sum(took)
    assert min(took) > 100_000, "no pass through a model takes less than 0.1 ms here"
    starts = [json.loads(line)["time"] for line in lines]
    assert starts[-30] == 1000.0, "the idle gap before E, of 30 steps, is jumped"
    assert starts[-31] < 100.0
    (tmp_path / "times").write_text("".join(times))
    _, again, _ = served(Replay(path=str(tmp_path / "times")).executor(None, block_size=4))
    assert again == lines


def test_a_calibration_prices_this_machine(calibrated: Path) -> None:
    """How well depends on who else uses the machine: here only that it is no nonsense."""
    found = read(calibrated)
    assert (found.model, found.max_model_len) == ("tiny-llama", 4096)
    assert found.setting["torch"] == torch.__version__
    assert 0 < found.error["held_out"] < 1
    costs = Measured(path=str(calibrated)).executor("tiny-llama", block_size=16).costs
    assert costs.step(StepLoad(32, 32 * 500, sampled=32)) > costs.step(StepLoad(1, 1, sampled=1))
    assert costs.swap_out(1) > 0 < costs.swap_in(1)


def test_measured_steps_are_mixed_and_within_their_range() -> None:
    limits = Range(max_num_batched_tokens=100, max_num_seqs=8, max_model_len=200)
    shapes = list(random_shapes(limits, 300, seed=1))
    loads = [load_of(shape) for shape in shapes]
    assert shapes == list(random_shapes(limits, 300, seed=1))
    assert all(1 <= load.new_tokens <= 100 for load in loads)
    assert all(load.decodes <= 8 for load in loads)
    assert all(part.computed + part.new <= 200 for shape in shapes for part in shape)
    kinds = {(load.decodes > 0, load.prefills > 0) for load in loads}
    assert kinds == {(True, True), (True, False), (False, True)}


@pytest.mark.parametrize("seed", range(8))
def test_few_measured_steps_tell_all_constants_apart(seed: int) -> None:
    quick = list(random_shapes(Range(), setup.QUICK, seed))
    shapes = list(random_shapes(Range(), 40, seed))
    for fitted in (quick, shapes[::2], shapes[1::2]):
        rows = np.array([features(load_of(shape)) for shape in fitted], dtype=float)
        assert np.linalg.matrix_rank(rows / rows.max(axis=0)) == len(FITTED)


def test_a_model_of_few_positions_is_measured_within_them() -> None:
    model = from_config(
        AutoConfig.for_model("gpt2", vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64),
        torch.float32,
        seed=0,
    )
    loaded = admitted("gpt2", model, torch.device("cpu"), "a test")
    limits = Range.of(loaded)
    assert limits.max_model_len == 64
    for shape in random_shapes(limits, 100, seed=0):
        assert all(part.computed + part.new <= 64 for part in shape)


def test_measured_requests_hold_different_tokens() -> None:
    first, second = (random_tokens(1000, seed, 50) for seed in (0, 1))
    assert first != second
    assert len(set(first)) > 30


def test_the_same_model_is_not_loaded_twice() -> None:
    one = setup.executor(Torch(threads=1), "tiny-llama", 16)
    other = setup.executor(Torch(threads=1, temperature=0.5), "tiny-llama", 4)
    assert one.runner.loaded is other.runner.loaded
    assert one.runner.pool is not other.runner.pool


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"device": "gpu"}, "unknown device"),
        ({"device": "cuda:77"}, "no such CUDA device"),
        ({"dtype": "float8"}, "expected auto, float64"),
        ({"costs": "nowhere.toml"}, "nowhere.toml: cannot be read"),
        ({"prompts": "nowhere.jsonl"}, "has no tokenizer"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Torch(threads=1, **settings).executor("tiny-llama", block_size=16)


def test_it_says_what_fits_and_what_it_runs_on() -> None:
    executor = Torch(threads=1).executor("tiny-llama", block_size=16)
    capacity = executor.capacity(
        block_size=16, gpu_memory_utilization=0.5, max_num_batched_tokens=64
    )
    assert capacity.block_bytes == 3 * 2 * 16 * 2 * 8 * 4  # layers, K and V, tokens, heads, dim
    assert capacity.max_model_len == 4096
    assert capacity.num_gpu_blocks is not None
    assert capacity.num_gpu_blocks > 1000
    about = executor.describe()
    assert (about["model"], about["device"], about["threads"]) == ("tiny-llama", "cpu", 1)
