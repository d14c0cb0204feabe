"""Files of measurements: a machine's price, and the step times of a run."""

import json
import random
from pathlib import Path
from typing import Any

import attrs
import pytest
from command_line import schedfw
from harness import config_of, requests

from hwmodels.constant import Constant, ConstantCosts, ConstantExecutor
from hwmodels.measured.calibration import Calibration, Measured, Memory, read
from hwmodels.measured.linear_costs import LinearCosts
from hwmodels.measured.replay import Replay
from sched_core import (
    Engine,
    InputError,
    Policy,
    SchedfwError,
    StepOutcome,
    UsageError,
    Watcher,
    Workload,
)
from sched_core.experiment import prepare
from sched_core.watchers.decision_trace import DecisionTrace
from sched_core.watchers.step_times import StepTimes

CALIBRATION = Calibration(
    model="tiny-llama",
    costs=LinearCosts(c0=1e-3, token=2e-5, block_out=4e-6, block_in=5e-6),
    setting={"hardware": 'a "quoted" machine', "threads": 1, "temperature": 0.0},
    error={"held_out": 0.05, "bias": -0.01},
    block_size=16,
    kv_bytes_per_token=100,
    memory=Memory(whole=1_100_000, taken=50_000, per_token=20.5),
    max_model_len=512,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "machine.toml"
    path.write_text(CALIBRATION.to_toml(), "utf-8")
    return path


def test_a_calibration_survives_its_file(file: Path) -> None:
    assert read(file) == CALIBRATION


ODD_TEXTS = {
    "emoji 😀": "C:\\new\\table 😀 é \u2028",
    'a "key"': "quotes \" ' \"\"\" '''",
    "a.b": "a\tb\r\nc\x00\x1b\x7f\x85",
    "": "# = [x]",
}


def test_so_do_odd_texts(file: Path) -> None:
    odd = attrs.evolve(CALIBRATION, model='models/😀 \\ "x"', setting=ODD_TEXTS)
    file.write_text(odd.to_toml(), "utf-8")
    assert read(file) == odd


def test_bytes_that_are_no_text_become_question_marks(file: Path) -> None:
    path = b"models/\xff".decode("utf-8", "surrogateescape")
    odd = attrs.evolve(CALIBRATION, setting={"model_source": path})
    file.write_text(odd.to_toml(), "utf-8")
    assert read(file).setting == {"model_source": "models/?"}


def test_it_prices_steps_and_says_what_fits(file: Path) -> None:
    executor = Measured(path=str(file)).executor("tiny-llama", block_size=32)
    assert executor.costs.swap_out(1) == pytest.approx(8e-6)  # twice the tokens of 16
    capacity = executor.capacity(
        block_size=32, gpu_memory_utilization=0.5, max_num_batched_tokens=64
    )
    assert attrs.astuple(capacity) == (155, 512, 3200)  # (550_000 - 50_000 - 1312) / 3200
    assert executor.describe()["efficiencies"] == "fitted; 5.0% mean error"


def test_memory_is_read_off_a_linear_function() -> None:
    """Of the share of the memory, and of the tokens of a step."""

    def free(utilization: float, tokens: int) -> int:
        return int(7000 * utilization) - 1200 - 3 * tokens

    seen = Memory.seen(free, 512)
    assert seen == Memory(whole=7000, taken=1200, per_token=3.0)
    assert seen.free(0.5, 100) == free(0.5, 100)


def test_without_room_for_a_block_there_is_no_pool(file: Path) -> None:
    executor = Measured(path=str(file)).executor("tiny-llama", block_size=16)
    with pytest.raises(InputError, match="no KV block of 1600 bytes fits beside tiny-llama"):
        executor.capacity(block_size=16, gpu_memory_utilization=0.04, max_num_batched_tokens=1)


def test_another_model_is_refused(file: Path) -> None:
    with pytest.raises(InputError, match="measured with model 'tiny-llama'"):
        Measured(path=str(file)).executor("llama-3.1-8b", block_size=16)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("c0 = 0.001", "c0 = -1", "[costs]: field 'c0': out of range"),
        ("c0 = 0.001", "x = 1", "[costs]: unknown parameter 'x'"),
        ("whole = 1100000", "", "[memory]: parameter 'whole' is missing"),
        ("whole = 1100000", "whole = 0", "[memory]: field 'whole': out of range"),
        ("[memory]", "[memory.x]", "unknown parameter 'x'"),
        ("[costs]", "costs = 5\n[setting.more]", "'costs' does not fit"),
        ("block_size = 16", "block_size = 0", "'block_size'"),
        ("kv_bytes_per_token = 100", "kv_bytes_per_token = 0", "'kv_bytes_per_token'"),
        ("held_out = 0.05", "", "'error.held_out': is missing"),
        ("[error]", "[error", "is not TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(file: Path, old: str, new: str, problem: str) -> None:
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(UsageError) as error:
        read(file)
    assert str(file) in str(error.value)
    assert problem in str(error.value)


def test_a_file_that_is_no_text_is_named(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"machine\.toml: is not TOML"):
        read(file)


@pytest.mark.parametrize("table", ["costs", "memory", "error"])
def test_every_table_must_be_there(file: Path, table: str) -> None:
    head, *tables = file.read_text("utf-8").split("\n[")
    left = [text for text in tables if not text.startswith(table)]
    file.write_text("\n[".join([head, *left]), "utf-8")
    with pytest.raises(InputError, match=f"parameter '{table}' is missing"):
        read(file)


@attrs.frozen
class Jittery:
    """Steps that never take the same time twice, as on a real machine."""

    costs: LinearCosts = CALIBRATION.costs
    draws: random.Random = attrs.field(factory=lambda: random.Random(5))

    def execute(self, plan: Any) -> StepOutcome:
        return StepOutcome(self.costs.step(plan.load) * self.draws.uniform(0.5, 2.0))


SPECS = requests("A(30,9,@0) B(17,12,@0.001) C(45,20,@0.002) D(9,3,@0.006) E(20,30,@0.02)")
CONFIG = config_of({"block_size": 4, "num_gpu_blocks": 24, "num_cpu_blocks": 30})


def decisions(executor: Any, *also: Watcher, specs: Any = SPECS) -> list[str]:
    lines: list[str] = []
    watchers = [DecisionTrace.written(lines.append), *also]
    policy = Policy.from_spec("priority-aging+adaptive")
    Engine(CONFIG, policy, executor, Workload(specs), watchers=watchers).run()
    return lines


@pytest.fixture
def times(tmp_path: Path) -> Path:
    path = tmp_path / "times.jsonl"
    with path.open("w") as file:
        decisions(Jittery(), StepTimes(file.write))
    return path


def test_a_recorded_run_replays_byte_for_byte(times: Path) -> None:
    played = decisions(Jittery())
    assert any('"preempted":["' in line for line in played)
    assert decisions(Replay(path=str(times)).executor(None, block_size=4)) == played


def test_a_replay_of_another_run_is_refused(times: Path) -> None:
    executor = Replay(path=str(times)).executor(None, block_size=4)
    with pytest.raises(SchedfwError, match="step 0 is not the recorded one"):
        decisions(executor, specs=SPECS[1:])


def test_the_pool_is_the_recorded_one(times: Path) -> None:
    capacity = (
        Replay(path=str(times))
        .executor(None, block_size=4)
        .capacity(block_size=4, gpu_memory_utilization=0.9, max_num_batched_tokens=1)
    )
    assert capacity.num_gpu_blocks == 24


def test_the_costs_are_the_recorded_ones(times: Path) -> None:
    replay = Replay(path=str(times)).executor(None, block_size=4)
    assert replay.costs == CALIBRATION.costs
    assert json.loads(times.read_text().partition("\n")[0])["costs"]["form"] == "linear"


def test_a_record_without_a_form_is_linear(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text(HEAD.replace("{}", '{"c0":0.5}'))
    assert Replay(path=str(path)).executor(None, block_size=4).costs == LinearCosts(c0=0.5)


def test_costs_that_no_replay_could_read_end_the_run_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an executor that runs its steps, and whose costs are of a class of its own."""

    class Real(ConstantExecutor):
        modelled = False

    class Own(Constant):
        def executor(self, model: str | None, *, block_size: int) -> Real:
            return Real(ConstantCosts(self))

    monkeypatch.setattr(prepare, "named_hardware", lambda _: Own())
    result = schedfw("run", "--num-gpu-blocks", 100, "--record-times", tmp_path / "times")
    assert result.exit_code == 2
    assert "--record-times is not for 'a100': costs of class ConstantCosts" in result.stderr
    assert list(tmp_path.iterdir()) == []


HEAD = '{"num_gpu_blocks":24,"max_model_len":null,"costs":{}}\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ": is empty"),
        ("[1", ", line 1: is not JSON"),
        ("5", ", line 1: is no JSON object"),
        ('{"a": 1}', ", line 1: unknown parameter 'a'"),
        (HEAD.replace("{}", '{"tile":1}'), ", line 1, costs: unknown parameter 'tile'"),
        (HEAD.replace("{}", '{"form":"cubic"}'), ", line 1, costs: unknown form of costs 'cubic'"),
        (HEAD.replace("{}", '{"form":5}'), ", line 1, costs: unknown form of costs '5'"),
        (HEAD.replace("{}", '{"form":"linear","c0":-1}'), ", line 1, costs: field 'c0': out of"),
        (HEAD + '{"step":0,"ns":"x","load":[]}', ", line 2: parameter 'ns' does not fit"),
        (HEAD + '{"step":0,"ns":0,"load":[]}', ", line 2: field 'ns': out of range"),
        (HEAD + '{"step":0,"ns":5,"load":[1]}', ", line 2: field 'load': is no load"),
        (HEAD + '{"step":0,"ns":5}', ", line 2: parameter 'load' is missing"),
        (HEAD + '{"step":0,"ns":5,"load":["x"]}', ", line 2: parameter 'load' does not fit"),
    ],
)
def test_a_record_that_cannot_be_used_is_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "times.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        Replay(path=str(path)).executor(None, block_size=4)
    assert f"{path}{problem}" in str(error.value)
