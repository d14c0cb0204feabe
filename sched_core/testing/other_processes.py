"""Two more processes, whose sets and dicts of strings are ordered otherwise, that run scenarios.

A line asks (`{"spec": ..., "factory": ..., "scenario": {...}}`), a line answers
(`Run.as_json`).
"""

import atexit
import json
import os
import pkgutil
import subprocess
import sys
from functools import lru_cache

from sched_core.catalogue.specs import seen_from
from sched_core.experiment.scenario import Scenario, from_keys
from sched_core.experiment.scenario_text import document
from sched_core.testing.fake_clock import ClockAndSeed, faked
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.run import run_scenario

HASH_SEEDS = ("0", "12345")


def answers(under_test: PolicyUnderTest, scenario: Scenario) -> list[str]:
    """What a run comes to in each of the processes."""
    spec = under_test.spec and seen_from(os.getcwd(), under_test.spec)  # they may be elsewhere
    named = {"spec": spec, "factory": under_test.factory}
    line = json.dumps({**named, "scenario": document(scenario, under_test.spec)})
    processes = [_process(seed, tuple(sys.path)) for seed in HASH_SEEDS]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
    return [_line(process) for process in processes]


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the process ended with {process.wait()} in the middle of a run")
    return line


@lru_cache
def _process(hash_seed: str, path: tuple[str, ...]) -> "subprocess.Popen[str]":
    """Started once; it ends with this process."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from sched_core.testing.other_processes import main; main()"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(_end, process)
    return process


def _end(process: "subprocess.Popen[str]") -> None:
    with process:
        process.kill()


def main() -> None:
    """Answer line by line until the asking process ends."""
    channel, sys.stdout = sys.stdout, sys.stderr  # a policy may print
    for line in sys.stdin:
        asked = json.loads(line)
        under_test = _known(asked["spec"], asked["factory"])
        scenario = from_keys(asked["scenario"], "a line")
        with faked(ClockAndSeed(), under_test.modules()):
            run = run_scenario(scenario, under_test.policy())
        channel.write(run.as_json() + "\n")
        channel.flush()


@lru_cache
def _known(spec: str | None, factory: str | None) -> PolicyUnderTest:
    return PolicyUnderTest.of(spec or pkgutil.resolve_name(factory or ""))
