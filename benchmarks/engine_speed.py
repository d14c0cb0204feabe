"""How many requests and steps a second the engine simulates, and what a request costs in memory.

    python benchmarks/engine_speed.py --requests 10000 --requests 100000 --json speed.json

Poisson arrivals at 5 requests/s, prompts of 50 to 2,000 tokens, outputs of 50 to 500, Llama-3-8B on
one A100, a budget of 2,048 tokens, chunks of 512, 27,000 blocks; first come, first served, through
the same plugin path as any policy. Each size runs twice, step by step and with leaps over decode
steps that are all alike, each time in a process of its own, so that its peak memory is its own.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console
from rich.table import Table

from sched_core import EngineConfig
from sched_core.experiment.prepare import prepare
from sched_core.experiment.scenario import Scenario

POLICY = "schedfw/fcfs+schedfw/chunk:size=512"
MIB = 2**20


def scenario(requests: int) -> Scenario:
    """The workload and the engine that are measured."""
    return Scenario(
        workload=f"schedfw/poisson:request_rate=5:n={requests}:prompt_len=50..2000:output_len=50..500",
        hardware="schedfw/a100",
        model="llama-3-8b",
        config=EngineConfig(max_num_batched_tokens=2048, num_gpu_blocks=27_000),
    )


def measure(requests: int, leaps: bool) -> dict[str, Any]:
    """Figures of one run; memory in bytes, of which `run_bytes` came after the workload stood."""
    prepared = prepare(scenario(requests), [POLICY])
    engine = prepared.engine(prepared.cells[0], leaps=leaps)
    before = peak_bytes()
    start = time.perf_counter()
    recorder = engine.run()
    seconds = time.perf_counter() - start
    peak = peak_bytes()
    return {
        "requests": requests,
        "leaps": leaps,
        "finished": engine.counts()["finished"],
        "steps": recorder.steps,
        "seconds": seconds,
        "requests_per_second": requests / seconds,
        "steps_per_second": recorder.steps / seconds,
        "peak_bytes": peak,
        "run_bytes": peak - before,
    }


def peak_bytes() -> int:
    """The most memory that this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def in_own_process(requests: int, leaps: bool) -> dict[str, Any]:
    """`measure` in a fresh interpreter."""
    how = "leaps" if leaps else "steps"
    command = [sys.executable, __file__, "--requests", str(requests), "--here", how]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def table(rows: list[dict[str, Any]]) -> Table:
    """The figures as people read them."""
    shown = Table(box=None, pad_edge=False)
    for name in ("requests", "leaps", "finished", "steps", "seconds", "requests/s", "steps/s"):
        shown.add_column(name, justify="right")
    shown.add_column("peak MiB", justify="right")
    shown.add_column("bytes per finished request", justify="right")
    for row in rows:
        shown.add_row(*cells(row))
    return shown


def cells(row: dict[str, Any]) -> list[str]:
    """One line of the table."""
    counts = [f"{row['requests']:,}", "yes" if row["leaps"] else "no"]
    counts += [f"{row[key]:,}" for key in ("finished", "steps")]
    rates = [f"{row[key]:,.0f}" for key in ("requests_per_second", "steps_per_second")]
    memory = [f"{row['peak_bytes'] / MIB:,.0f}", f"{row['run_bytes'] / row['finished']:,.0f}"]
    return [*counts, f"{row['seconds']:.2f}", *rates, *memory]


@click.command()
@click.option("--requests", type=int, multiple=True, default=(10_000, 100_000), show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
@click.option(
    "--here",
    type=click.Choice(["steps", "leaps"]),
    hidden=True,
    help="Measure in this process, print JSON.",
)
def main(requests: tuple[int, ...], path: Path | None, here: str | None) -> None:
    """Measure the engine's speed at every size given."""
    if here:
        (size,) = requests
        click.echo(json.dumps(measure(size, here == "leaps")))
        return
    rows = [in_own_process(size, leaps) for size in requests for leaps in (False, True)]
    if path is not None:
        path.write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    Console(width=100).print(table(rows))


if __name__ == "__main__":
    main()
