"""How many requests and steps a second the engine simulates, and what a request costs in memory.

    python benchmarks/engine_speed.py --requests 10000 --rate 5 --json speed.json

Poisson arrivals, prompts of 50 to 2,000 tokens, outputs of 50 to 500, Llama-3-8B on one A100, a
budget of 2,048 tokens, chunks of 512, 27,000 blocks; first come, first served, through the same
plugin path as any policy. Each size runs at each rate twice, step by step and with leaps over
decode steps that are all alike, each time in a process of its own, so that its peak memory is its
own.
"""

import json
from pathlib import Path
from typing import Any

import rich_click as click
from measuring import (
    COMMON_CONFIG,
    COMMON_POLICY,
    MIB,
    common_workload,
    engine,
    in_own_process,
    peak_bytes,
    timed,
    work_done,
    write_json,
)
from rich.console import Console
from rich.table import Table

from sched_core import Policy

COLUMNS = ("requests", "rate", "leaps", "finished", "steps", "seconds", "requests/s", "steps/s")


def measure(requests: int, rate: float, leaps: bool, policy: str = COMMON_POLICY) -> dict[str, Any]:
    """Figures of one run; memory in bytes, of which `run_bytes` came after the workload stood."""
    workload = common_workload(requests, rate)
    run = engine(workload, COMMON_CONFIG, Policy.from_spec(policy), leaps=leaps)
    before = peak_bytes()
    seconds = timed(run.run)
    peak, done = peak_bytes(), work_done(run)
    return {
        "requests": requests,
        "rate": rate,
        "leaps": leaps,
        "finished": done["finished"],
        "steps": done["steps"],
        "busy_seconds": done["busy_ns"] / 1e9,
        "simulated_seconds": done["end_ns"] / 1e9,
        "seconds": seconds,
        "requests_per_second": requests / seconds,
        "steps_per_second": done["steps"] / seconds,
        "peak_bytes": peak,
        "run_bytes": peak - before,
    }


def in_turn(requests: int, rate: float, leaps: bool, policy: str = COMMON_POLICY) -> dict[str, Any]:
    """`measure` in a fresh interpreter."""
    how = "leaps" if leaps else "steps"
    options = ("--requests", requests, "--rate", rate, "--policy", policy, "--here", how)
    figures: dict[str, Any] = in_own_process(__file__, *options)
    return figures


def table(rows: list[dict[str, Any]]) -> Table:
    """The figures as people read them."""
    shown = Table(box=None, pad_edge=False)
    for name in (*COLUMNS, "peak MiB", "bytes per finished request"):
        shown.add_column(name, justify="right")
    for row in rows:
        shown.add_row(*cells(row))
    return shown


def cells(row: dict[str, Any]) -> list[str]:
    """One line of the table."""
    counts = [f"{row['requests']:,}", f"{row['rate']:g}", "yes" if row["leaps"] else "no"]
    counts += [f"{row[key]:,}" for key in ("finished", "steps")]
    rates = [f"{row[key]:,.0f}" for key in ("requests_per_second", "steps_per_second")]
    memory = [f"{row['peak_bytes'] / MIB:,.0f}", f"{row['run_bytes'] / row['finished']:,.0f}"]
    return [*counts, f"{row['seconds']:.2f}", *rates, *memory]


@click.command()
@click.option("--requests", type=int, multiple=True, default=(10_000, 100_000), show_default=True)
@click.option("--rate", type=float, multiple=True, default=(5.0, 3.0), show_default=True)
@click.option("--policy", default=COMMON_POLICY, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
@click.option(
    "--here",
    type=click.Choice(["steps", "leaps"]),
    hidden=True,
    help="Measure in this process, print JSON.",
)
def main(
    requests: tuple[int, ...],
    rate: tuple[float, ...],
    policy: str,
    path: Path | None,
    here: str | None,
) -> None:
    """Measure the engine's speed at every size and rate given."""
    if here:
        (size,), (each,) = requests, rate
        click.echo(json.dumps(measure(size, each, here == "leaps", policy)))
        return
    rows = [
        in_turn(size, each, leaps, policy)
        for size in requests
        for each in rate
        for leaps in (False, True)
    ]
    write_json(path, rows)
    Console(width=110).print(table(rows))


if __name__ == "__main__":
    main()
