"""Hooks that print, hang, or take their time."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import schedfw
from harness import requests, serve

from sched_core import RequestSpec, Scenario, StepRecord, Watcher, Workload, compare, simulate
from sched_core.policy import time_spent
from sched_core.policy.stack import Policy
from sched_core.policy.time_spent import TimeKeeper, TimeSpent

LOUD = """
import sys
import attrs
from sched_core import hookimpl
print("on import")


@attrs.define
class Loud:
    def __attrs_post_init__(self):
        print("when built")

    @hookimpl
    def effective_priority(self, request):
        print("a key")
        return 0

    @hookimpl
    def select_admissions(self, view):
        for request in view.waiting:
            print("an offer")
            yield request

    @hookimpl
    def request_finished(self, request):
        print("an end")
        sys.stdout.writelines(["in lines\\n"])
"""
SAID = {"on import", "when built", "a key", "an offer", "an end", "in lines"}
FEW = ("--workload", "poisson:n=5")


@pytest.fixture
def loud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "loud.py"
    file.write_text(LOUD)
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--policy", "./loud.py", *FEW),
        ("policies", "check", "./loud.py", "--examples", 1),
    ],
)
def test_what_a_hook_prints_is_no_output(loud: Path, arguments: tuple[object, ...]) -> None:
    result = schedfw(*arguments, "--format", "json")
    json.loads(result.stdout)
    assert set(result.stderr.splitlines()) >= SAID


def test_nor_in_other_processes(loud: Path) -> None:
    done = process("compare", "--policies", "fcfs,./loud.py", "--jobs", "2", *FEW, "--format=csv")
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    assert out.count("\n") == 11
    assert not SAID & set(out.splitlines())
    assert set(err.splitlines()) >= SAID


class Prints(Watcher):
    def stepped(self, record: StepRecord) -> None:
        print("a step")


def test_what_a_watcher_prints_stays_output(loud: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workload = Workload([RequestSpec("a", 0.0, 10, 1)])
    simulate(Scenario(policy="./loud.py", workload=workload), watchers=[Prints()])
    seen = capsys.readouterr()
    assert seen.out == "a step\n"
    assert set(seen.err.splitlines()) >= SAID - {"on import"}


# -- interrupted ----------------------------------------------------------------------------------

HANGS = """
import attrs
from sched_core import hookimpl


@attrs.define
class Hangs:
    @hookimpl
    def {hook}(self):
        print("here it is", flush=True)
        while True:
            pass
        yield
"""


def process(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", "from sched_core.cli import main; main()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.parametrize("hook", ["effective_priority", "select_admissions", "request_arrived"])
def test_an_interrupt_names_component_hook_and_line(loud: Path, hook: str) -> None:
    text = HANGS.format(hook=hook)
    loud.write_text(text if hook == "select_admissions" else text.replace("        yield\n", ""))
    running = process("run", "--policy", "./loud.py:Hangs", *FEW)
    assert running.stderr is not None
    while running.stderr.readline() != "here it is\n":
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert err.startswith(
        "\nschedfw: error: interrupted in component './loud.py:Hangs', "
        f"hook {hook!r}, step 0, time "
    )
    assert re.search(r"\(loud.py, line 1[012]\)\n$", err)


# -- slow -----------------------------------------------------------------------------------------

SLOW = """
import time
import attrs
from sched_core import hookimpl


@attrs.define
class Slow:
    priority_moves = "static"

    @hookimpl
    def effective_priority(self, request):
        ends = time.perf_counter() + 0.02
        while time.perf_counter() < ends:
            pass
        return 0
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_who_took_the_time_is_told(loud: Path, monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    loud.write_text(SLOW)
    count = 101 if jobs == 2 else 20
    if jobs == 1:
        monkeypatch.setattr(time_spent, "LONG", 0.3)
    result = schedfw(
        "compare", "--policies", "fcfs,fcfs+./loud.py,./loud.py+fcfs", "--jobs", jobs,
        "--workload", f"poisson:n={count}:request_rate=50", "--num-gpu-blocks", 9000,
    )  # fmt: skip
    (line,) = [line for line in result.stderr.splitlines() if "./loud.py+fcfs" in line]
    assert line.startswith("schedfw: time: ./loud.py+fcfs: ")
    assert " s, effective_priority of './loud.py:Slow' 9" in line or "100 %" in line
    assert re.search(r" % \([0-9]+ answers\), the engine ", line)


def test_a_short_run_is_not_told(loud: Path) -> None:
    loud.write_text(SLOW)
    assert schedfw("run", "--policy", "./loud.py", *FEW).stderr == ""


def test_what_it_took_is_in_no_document(loud: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loud.write_text(SLOW)
    scenario = Scenario(workload="poisson:n=10")
    plain = compare(scenario, ["./loud.py"])
    monkeypatch.setattr(time_spent, "LONG", 0.0)
    told = compare(scenario, ["./loud.py"])
    assert told.results[0].time_spent is not None
    assert told.document() == plain.document()


def test_the_engine_takes_what_no_hook_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_spent, "LONG", 0.1)
    keeper = TimeKeeper(Policy.from_spec("fcfs"))
    with keeper:
        time.sleep(0.2)
    assert keeper.spent is not None
    assert str(keeper.spent).endswith(" s, the engine 100 %")


def test_in_words() -> None:
    spent = TimeSpent(12.34, 0.95, "effective_priority", "sjf", 0.918, 41_000)
    assert str(spent) == "12.3 s, effective_priority of 'sjf' 92 % (41,000 answers), the engine 5 %"


def test_answers_are_counted() -> None:
    policy = Policy.from_spec("sjf+predict-oracle")
    serve(requests("a(8,2,@0) b(8,2,@0)"), policy)
    counts = {
        (name, call.who): call.answers for name, hook in policy.hooks.items() for call in hook.calls
    }
    assert counts["effective_priority", "sjf"] == counts["predict_output", "predict-oracle"] == 2
    assert counts["predict_output", "sjf"] == 0
