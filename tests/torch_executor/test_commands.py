"""The command line: run for real, replay, calibrate, validate."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hwmodels.measured.calibration import Measured
from hwmodels.torch_executor import executor, setup
from hwmodels.torch_executor.hardware import Torch
from hwmodels.torch_executor.model.loaded import LoadedModel
from sched_core.cli import main
from sched_core.cli.hardware.real_runs import with_costs

SMALL = [
    "--workload=poisson:request_rate=60:n=12:prompt_len=8..60:output_len=4..12",
    "--num-gpu-blocks=12",
    "--policy=youngest+swap",
    "--num-cpu-blocks=40",
    "--no-scheduler-reserve-full-isl",
]


def schedfw(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_real_run_replays_with_the_same_decisions(tmp_path: Path) -> None:
    times, real, again = (str(tmp_path / name) for name in ("ti:mes", "real", "again"))
    schedfw(
        "run", "--executor=torch:threads=1", "--device=cpu", "--model=tiny-llama", *SMALL,
        f"--record-times={times}", f"--decisions={real}",
    )  # fmt: skip
    schedfw("run", f"--replay-times={times}", *SMALL, f"--decisions={again}")
    assert Path(real).read_bytes() == Path(again).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--executor=torch", "--hardware=h100"], "--hardware and --executor say both"),
        (["--device=cuda"], "--device is for --executor"),
        (["--executor=torch", "--device="], "--device is empty"),
        (
            ["--executor=torch", "--device=cuda:77", "--model=tiny-llama"],
            "'device': this machine has no such CUDA device (found 'cuda:77')",
        ),
        (["--record-times=x"], "'a100' prices them, and prices them alike every time"),
        (["--executor=torch", "--model=tiny-lama"], "did you mean 'tiny-llama'"),
        (
            ["--executor=torch", "--model=tiny-llama", "--batching=padded"],
            "runs the tokens of a plan and no padding",
        ),
    ],
)
def test_contradictions_are_refused(arguments: list[str], problem: str) -> None:
    result = CliRunner().invoke(main, ["run", *arguments])
    assert result.exit_code == 2
    assert problem in result.output


def test_runs_for_real_do_not_run_side_by_side() -> None:
    real = ("--executor=torch:threads=1:device=cpu", "--model=tiny-llama", *SMALL[:2])
    result = CliRunner().invoke(main, ["compare", "--policies=fcfs,sjf", "--jobs=2", *real])
    assert result.exit_code == 2
    assert "side by side they would disturb each other (found 2); expected 1" in result.output
    schedfw("compare", "--policies=fcfs,sjf", *real)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["validate", "a100", "--against=x", "--rounds=2"], "--rounds is for --executor"),
        (["validate", "a100", "--against=x", "--policy=fcfs"], "--policy is for --executor"),
        (["validate", "a100", "--against=x", "--executor=torch"], "say both"),
        (["validate", "a100"], "--against FILE, or --executor NAME"),
        (["calibrate", "a100", "--against=x", "--steps=20"], "--steps is for --executor"),
        (["calibrate", "--executor=torch", "--against=x", "--out=y"], "no NAME, no --against"),
        (["calibrate", "--executor=torch"], "needs --out FILE"),
        (["calibrate", "--executor=a100", "--out=y"], "runs no steps of its own"),
    ],
)
def test_what_is_measured_against_is_said_once(arguments: list[str], problem: str) -> None:
    result = CliRunner().invoke(main, ["hardware", *arguments, "--model=llama-3-8b"])
    assert result.exit_code == 2
    assert problem in result.output


def test_calibrate_then_validate(tmp_path: Path) -> None:
    out = str(tmp_path / "machine.toml")
    real = ("--executor=torch:threads=1", "--model=tiny-llama")
    schedfw("hardware", "calibrate", *real, f"--out={out}", "--steps=20", "--repeats=1")
    found = json.loads(
        schedfw(
            "hardware", "validate", out, *real, "--format=json", "--rounds=2", "--policy=fcfs",
            "--policy=chunk:size=16", "--workload=poisson:n=8:prompt_len=8..60:output_len=4..12",
        )
    )  # fmt: skip
    assert found["executor"] == f"torch:threads=1:costs={out}"
    assert {(row["load"], row["policy"]) for row in found["steps"]} == {
        (load, policy) for load in ("light", "overload") for policy in ("fcfs", "chunk:size=16")
    }
    for row in found["figures"]:
        assert row["lowest"] <= row["measured"] <= row["highest"]
        assert row["error"] == pytest.approx(row["simulated"] / row["measured"] - 1)
    assert {row["figure"] for row in found["figures"]} == {
        "ttft", "tpot", "e2el", "output_throughput"
    }  # fmt: skip
    assert all(set(row["measured"]) == {"chunk:size=16", "fcfs"} for row in found["rankings"])


def test_measured_hardware_has_the_pool_of_its_executor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large as a device's memory: that of a CPU is what is free at the moment."""
    monkeypatch.setattr(setup, "free_bytes", device_bytes)
    monkeypatch.setattr(executor, "free_bytes", device_bytes)
    out = tmp_path / "machine.toml"
    out.write_text(Torch(threads=1).measure("tiny-llama", steps=10, repeats=1))
    for share, tokens in ((0.3, 512), (0.7, 2048)):
        real, measured = (
            hardware.executor("tiny-llama", block_size=16).capacity(
                block_size=16, gpu_memory_utilization=share, max_num_batched_tokens=tokens
            )
            for hardware in (Torch(threads=1, costs=str(out)), Measured(path=str(out)))
        )
        assert real == measured


def device_bytes(loaded: LoadedModel, utilization: float, tokens: int) -> int:
    """A share of it, but for weights, and activations of every token."""
    return int(8e9 * utilization) - 10**9 - 5000 * tokens


@pytest.mark.parametrize("spec", ["torch:costs=own.toml", "constant:step=1"])
def test_costs_of_its_own_stay(spec: str) -> None:
    assert with_costs(spec, "machine.toml") == spec
