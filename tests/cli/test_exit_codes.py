"""What the command line returns when things go wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from command_line import schedfw, small

from sched_core import hookimpl
from sched_core.cli import main
from sched_core.policy.stack import Policy

COMMAND = [sys.executable, "-c", "from sched_core.cli import main; main()"]


@attrs.define(eq=False)
class Foolish:
    """Cannot tell a priority from a poem."""

    @hookimpl
    def effective_priority(self) -> object:
        return "ode"


def test_a_policy_that_misbehaves_exits_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Policy, "from_spec", lambda _: Policy([("foolish", Foolish())]))
    decisions = tmp_path / "decisions.jsonl"
    result = small("run", "--decisions", decisions)
    assert result.exit_code == 1
    assert result.stderr.startswith(
        "schedfw: error: component 'foolish', hook 'effective_priority'"
    )
    assert not list(tmp_path.iterdir())


def test_a_fault_of_ours_exits_3_and_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: str) -> Policy:
        raise RuntimeError("out of cheese")

    monkeypatch.setattr(Policy, "from_spec", broken)
    result = small("run")
    assert result.exit_code == 3
    assert "schedfw: error: RuntimeError: out of cheese" in result.stderr
    assert "please report" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in schedfw("--debug", "run").stderr
    monkeypatch.setenv("SCHEDFW_DEBUG", "1")
    assert "Traceback" in schedfw("run").stderr


def test_an_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> Policy:
        raise KeyboardInterrupt

    monkeypatch.setattr(Policy, "from_spec", interrupted)
    result = small("compare", "--policies", "fcfs")
    assert result.exit_code == 130
    assert result.stderr.strip().endswith("schedfw: error: interrupted")


def heed_interrupts() -> None:
    """A shell's background jobs ignore them, and hand that on: so would tests that run in one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_process_exits_130_and_leaves_no_file(tmp_path: Path) -> None:
    slow = ["run", "--workload", "poisson:n=200000", "--decisions", str(tmp_path / "out")]
    with subprocess.Popen(
        [*COMMAND, *slow], stderr=subprocess.PIPE, preexec_fn=heed_interrupts
    ) as process:
        try:
            while not list(tmp_path.iterdir()):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command", ["policies list", "run --help", "run --workload poisson:n=2000 --format json"]
)
def test_a_reader_that_leaves_is_no_failure(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run(
        [*COMMAND, *command.split()], stdout=writing, stderr=subprocess.PIPE, timeout=30
    )
    os.close(writing)
    assert (process.returncode, process.stderr) == (0, b"")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("policies list", "standard output"),
        ("run --workload poisson:n=2000 --format json", "standard output"),
        ("run --workload poisson:n=60 --decisions /dev/full", "/dev/full"),
        ("run --workload poisson:n=60 --output /dev/full", "/dev/full"),
    ],
)
def test_a_full_disk_is_one_message_that_names_the_file(command: str, name: str) -> None:
    with FULL.open("w") as full:
        process = subprocess.run(
            [*COMMAND, *command.split()],
            stdout=full if name == "standard output" else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
        )
    message = f"schedfw: error: {name}: cannot be written: No space left on device\n"
    assert (process.returncode, process.stderr) == (1, message)


def test_decisions_go_down_a_pipe() -> None:
    arguments = ["run", "--workload", "poisson:n=2", "--decisions", "/dev/stdout"]
    process = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=30)
    assert process.returncode == 0
    assert process.stdout.startswith('{"step":0,')


def test_a_closed_output_is_no_fault() -> None:
    process = subprocess.run(
        [*COMMAND, "policies", "list"],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: os.close(1),
        timeout=30,
    )
    assert (process.returncode, process.stderr) == (0, b"")


def test_nothing_is_no_name_and_a_limit_is_given_once() -> None:
    for option in ("policy", "hardware", "model", "workload"):
        result = small("run", f"--{option}", "")
        assert result.exit_code == 2
        assert f"field '{option}': empty (found ''); expected a text" in result.stderr
    result = small("run", "--goodput", "ttft:5", "--goodput", "ttft:6")
    assert result.exit_code == 2
    assert "field '--goodput': ttft given twice (found 'ttft:6')" in result.stderr


def test_version_and_help() -> None:
    assert schedfw("--version").stdout.startswith("schedfw, version ")
    for command in main.commands:
        assert command in schedfw("--help").stdout
        assert schedfw(command, "--help").exit_code == 0
    assert "--max-num-batched-tokens" in schedfw("run", "--help").stdout


def test_start_up_loads_nothing_heavy() -> None:
    check = (
        "import sys, sched_core.cli; print([m for m in ('scipy', 'joblib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
