"""What a request costs as one thing grows: requests, running, waiting, blocks.

    python benchmarks/scaling.py --range waiting --load event-keys --at-most 10000

In each row of a table only what its range names grows. Figures are microseconds of wall clock per
finished request, of the run alone; `growth` is the largest of them over the one at the smallest
size, and marked where it is more than 1.5. Memory is what the process grew by in the run, at the
largest size. Each point runs in a process of its own.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import rich_click as click
from loads import STORMS, Case, many_blocks, many_requests, many_running, many_waiting
from measuring import engine, in_own_process, peak_bytes, timed, until_enough, work_done, write_json
from rich.console import Console
from rich.table import Table

from sched_core import Engine

GOAL = 1.5
USUAL = ("fcfs", "priority", "aging", "sjf", "vtc", "caching")


class Range(NamedTuple):
    """Something that grows."""

    case: Callable[[str, int, int, Path | None], Case]
    loads: tuple[str, ...]
    sizes: tuple[int, ...]
    served: int
    """Requests served at each size; 0: as many as the size says."""
    quick_sizes: tuple[int, ...]


RANGES = {
    "requests": Range(
        many_requests, (*USUAL, *STORMS), (1_000, 10_000, 100_000, 1_000_000), 0, (64, 128)
    ),
    "running": Range(
        many_running, (*USUAL, "visited", *STORMS), (8, 64, 256, 1_024), 4_096, (4, 16)
    ),
    "waiting": Range(
        many_waiting,
        (*USUAL, "event-keys", "time-keys", *STORMS),
        (10, 100, 1_000, 10_000, 100_000),
        4_000,
        (10, 40),
    ),
    "blocks": Range(many_blocks, USUAL, (1_000, 10_000, 100_000, 1_000_000), 4_000, (1_000, 4_000)),
}
QUICKLY_SERVED = 64
LOADS = tuple(dict.fromkeys(load for each in RANGES.values() for load in each.loads))


def measure(name: str, load: str, size: int, trace: Path | None, quick: bool) -> dict[str, Any]:
    """Figures of one point: the median of up to five runs, and what the last of them did."""
    served = QUICKLY_SERVED if quick and RANGES[name].served else RANGES[name].served or size
    case = RANGES[name].case(load, size, served, trace)
    before = peak_bytes()
    done: dict[str, Any] = {}

    def once() -> float:
        run = engine(case.workload, case.config, case.policy())
        seconds, requests = beside_a_queue(run, served) if case.standing else whole(run)
        done.update(work_done(run), seconds=seconds, served=requests)
        return seconds / requests

    per_request = until_enough(once, most=1 if quick else 5)
    grown = peak_bytes() - before
    figures = {"us_per_request": per_request * 1e6, "bytes_per_request": grown / done["finished"]}
    return {"range": name, "load": load, "size": size, **figures, **done}


def whole(run: Engine) -> tuple[float, int]:
    """(seconds, finished requests) of a run to its end."""
    return timed(run.run), run.counts()["finished"]


def beside_a_queue(run: Engine, served: int) -> tuple[float, int]:
    """(seconds, finished requests) of a part of a run in which as many wait all the time.

    It ends after `served` requests, or after a second if a few are served by then.
    """

    def some_steps() -> None:
        for _ in range(16):
            run.advance()

    some_steps()  # the queue fills, and everyone has a seat
    ahead = run.counts()["finished"]
    seconds, finished = 0.0, 0
    while finished < served and (seconds < 1 or finished < 8):
        seconds += timed(some_steps)
        finished = run.counts()["finished"] - ahead  # walks the queue: off the clock
    return seconds, finished


def growth(points: list[dict[str, Any]]) -> float:
    """The most that a request costs, over what it costs at the smallest size."""
    costs = [point["us_per_request"] for point in points]
    return float(max(costs) / costs[0])


def tables(points: list[dict[str, Any]]) -> list[Table]:
    """One table per range, one row per load."""
    names = dict.fromkeys(point["range"] for point in points)
    return [_table(name, [p for p in points if p["range"] == name]) for name in names]


def _table(name: str, points: list[dict[str, Any]]) -> Table:
    shown = Table(
        box=None, pad_edge=False, title=f"us per request, by {name}", title_justify="left"
    )
    shown.add_column("load")
    for size in dict.fromkeys(point["size"] for point in points):
        shown.add_column(f"{size:,}", justify="right")
    shown.add_column("growth", justify="right")
    whole_runs = not RANGES[name].served
    if whole_runs:
        shown.add_column("bytes per request", justify="right")
    for load in dict.fromkeys(point["load"] for point in points):
        row = [point for point in points if point["load"] == load]
        grown = growth(row)
        costs = [f"{point['us_per_request']:,.0f}" for point in row]
        mark = " !" if grown > GOAL else "  "
        memory = [f"{row[-1]['bytes_per_request']:,.0f}"] if whole_runs else []
        shown.add_row(load, *costs, f"{grown:.2f}{mark}", *memory)
    return shown


@click.command()
@click.option("--range", "names", type=click.Choice(list(RANGES)), multiple=True, help="Only this.")
@click.option("--load", "loads", type=click.Choice(LOADS), multiple=True, help="Only this.")
@click.option("--at-most", type=int, help="Leave out sizes above this.")
@click.option("--quick", is_flag=True, help="Tiny sizes, to see that all runs.")
@click.option(
    "--mooncake",
    "trace",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Rows for the load `caching`; by default they are made.",
)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
@click.option("--here", type=(str, str, int), hidden=True, help="Measure here, print JSON.")
def main(
    names: tuple[str, ...],
    loads: tuple[str, ...],
    at_most: int | None,
    quick: bool,
    trace: Path | None,
    path: Path | None,
    here: tuple[str, str, int] | None,
) -> None:
    """Measure what a request costs over every range and load given."""
    if here:
        click.echo(json.dumps(measure(*here, trace, quick)))
        return
    options = [*(["--quick"] if quick else []), *(["--mooncake", trace] if trace else [])]
    points = [
        in_own_process(__file__, *options, "--here", name, load, size)
        for name, grows in RANGES.items()
        if name in (names or RANGES)
        for load in grows.loads
        if load in (loads or LOADS)
        for size in (grows.quick_sizes if quick else grows.sizes)
        if at_most is None or size <= at_most
    ]
    write_json(path, points)
    for shown in tables(points):
        Console(width=110).print(shown, "")


if __name__ == "__main__":
    main()
