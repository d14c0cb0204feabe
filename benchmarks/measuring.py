"""What the benchmarks share: engines, clocks, memory, and processes of their own.

Engines are built from public names and entry points, as a plugin's author would.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from sched_core import Engine, EngineConfig, Policy, Workload, configure

HARDWARE, MODEL = "a100", "llama-3-8b"
COMMON_POLICY = "fcfs+chunk:size=512"
COMMON_CONFIG = EngineConfig(max_num_batched_tokens=2048, num_gpu_blocks=27_000)
MIB = 2**20


def component(kind: str, name: str, **parameters: object) -> Any:
    """What the entry point `name` of group `schedfw.KIND` builds."""
    (entry,) = entry_points(group=f"schedfw.{kind}", name=name)
    return configure(entry.load(), parameters, where=name)


def common_workload(requests: int, rate: float = 5.0) -> Workload:
    """Poisson arrivals, prompts of 50 to 2,000 tokens, outputs of 50 to 500."""
    lengths = {"prompt_len": "50..2000", "output_len": "50..500"}
    source = component("workloads", "poisson", request_rate=rate, n=requests, **lengths)
    workload: Workload = source.build(0)
    return workload


def engine(
    workload: Workload, config: EngineConfig, policy: Policy, *, leaps: bool = True
) -> Engine:
    """A fresh engine of one A100 that serves Llama-3-8B."""
    executor = component("hardware", HARDWARE).executor(MODEL, block_size=config.block_size)
    return Engine(config, policy, executor, workload, leaps=leaps)


def timed(work: Callable[[], object]) -> float:
    """Seconds of wall clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def work_done(run: Engine) -> dict[str, int]:
    """What a run has done so far: who is where, and the sums of its steps."""
    sums = ("steps", "preemptions", "swap_outs", "peak_running", "prefix_hits", "busy_ns", "end_ns")
    return run.counts() | {name: getattr(run.recorder, name) for name in sums}


def until_enough(once: Callable[[], float], *, most: int, enough: float = 1.0) -> float:
    """The median of `most` measurements, of fewer where `enough` seconds are spent before."""
    start = time.perf_counter()
    found = [once()]
    while len(found) < most and time.perf_counter() - start < enough:
        found.append(once())
    return statistics.median(found)


def peak_bytes() -> int:
    """The most memory that this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def in_own_process(script: str, *arguments: object, python: str = sys.executable) -> Any:
    """The JSON that `script` prints as its last line, in a fresh interpreter."""
    command = [python, script, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def write_json(path: Path | None, figures: object) -> None:
    """Write the figures where a path is given."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
