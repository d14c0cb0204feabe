"""Two more processes, whose sets and dicts of strings are ordered otherwise, that run scenarios.

A line asks (`{"spec": ..., "factory": ..., "scenario": {...}}`), a line answers
(`Played.as_json`).
"""

import atexit
import json
import os
import pkgutil
import subprocess
import sys
from functools import lru_cache

from sched_core.experiment.scenario import Scenario, from_keys
from sched_core.experiment.scenario_text import document
from sched_core.testing.fake_clock import Surroundings, placed
from sched_core.testing.policy_under_test import Subject
from sched_core.testing.run import play

HASH_SEEDS = ("0", "12345")


def answers(subject: Subject, scenario: Scenario) -> list[str]:
    """What a run comes to in each of the processes."""
    named = {"spec": subject.spec, "factory": subject.factory}
    line = json.dumps({**named, "scenario": document(scenario, subject.spec)})
    twins = [_process(seed, tuple(sys.path)) for seed in HASH_SEEDS]
    for twin in twins:
        assert twin.stdin is not None
        twin.stdin.write(line + "\n")
        twin.stdin.flush()
    return [_line(twin) for twin in twins]


def _line(twin: "subprocess.Popen[str]") -> str:
    assert twin.stdout is not None
    line = twin.stdout.readline()
    if not line:
        raise RuntimeError(f"the process ended with {twin.wait()} in the middle of a run")
    return line


@lru_cache
def _process(hash_seed: str, path: tuple[str, ...]) -> "subprocess.Popen[str]":
    """Started once; it ends with this process."""
    twin = subprocess.Popen(
        [sys.executable, "-c", "from sched_core.testing.other_processes import main; main()"],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(_end, twin)
    return twin


def _end(twin: "subprocess.Popen[str]") -> None:
    with twin:
        twin.kill()


def main() -> None:
    """Answer line by line until the asking process ends."""
    channel, sys.stdout = sys.stdout, sys.stderr  # a policy may print
    for line in sys.stdin:
        asked = json.loads(line)
        subject = _known(asked["spec"], asked["factory"])
        scenario = from_keys(asked["scenario"], "a line")
        with placed(Surroundings(), subject.modules()):
            played = play(scenario, subject.policy())
        channel.write(played.as_json() + "\n")
        channel.flush()


@lru_cache
def _known(spec: str | None, factory: str | None) -> Subject:
    return Subject.of(spec or pkgutil.resolve_name(factory or ""))
