"""The common workload through this engine and through its peers, in turns, in one run.

    python benchmarks/peers.py --python PATH --json peers.json

PATH is a Python that has `sched-sim` and `ai-dynamo-runtime`, best in an environment of its own. A
peer that is not installed there is left out; nothing is installed from here. The README says what
each of them simulates and what it does not.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import rich_click as click
from engine_speed import in_turn
from measuring import COMMON_POLICY, common_workload, in_own_process, write_json
from rich.console import Console
from rich.table import Table

RUN_PEER = str(Path(__file__).with_name("one_peer.py"))
OURS = {
    "schedfw, step by step": (False, COMMON_POLICY),
    "schedfw": (True, COMMON_POLICY),
    "schedfw, chunks as the budget allows": (True, "fcfs"),
}
REFERENCE = "schedfw"
Figures = dict[str, Any]


def write_rows(path: Path, requests: int, rate: float) -> None:
    """The common workload as rows of Mooncake's form; no prompt shares a block."""
    block, used = 16, 0
    with path.open("w", encoding="utf-8") as file:
        for spec in common_workload(requests, rate).requests:
            blocks = -(-spec.prompt_len // block)
            row = {
                "timestamp": spec.arrival * 1000,
                "input_length": spec.prompt_len,
                "output_length": spec.output_len,
                "hash_ids": list(range(used, used + blocks)),
            }
            used += blocks
            file.write(json.dumps(row) + "\n")


def one_round(rows: Path, requests: int, rate: float, python: str) -> dict[str, Figures]:
    """Everyone's figures, one after the other."""
    found = {name: in_turn(requests, rate, *how) for name, how in OURS.items()}
    step_ms = 1000 * found[REFERENCE]["busy_seconds"] / found[REFERENCE]["steps"]
    peers = {
        "sched-sim": ("sched-sim", rows),
        "dynamo mocker, times of its own": ("dynamo", rows),
        "dynamo mocker, our mean step": ("dynamo", rows, step_ms),
    }
    for name, arguments in peers.items():
        found[name] = in_own_process(RUN_PEER, *arguments, python=python)
    return found


def medians(rounds: list[dict[str, Figures]]) -> dict[str, Figures]:
    """Everyone's round of the median time, with the ratio of its speed to ours."""
    chosen = {}
    for name in rounds[0]:
        mine = [each[name] for each in rounds]
        if "missing" in mine[0]:
            chosen[name] = mine[0]
            continue
        mine.sort(key=lambda figures: figures["seconds"])
        chosen[name] = mine[len(mine) // 2]
    for name, figures in chosen.items():
        if "missing" not in figures:
            pairs = [each[REFERENCE]["seconds"] / each[name]["seconds"] for each in rounds]
            figures["speed_by_ours"] = statistics.median(pairs)
    return chosen


def table(chosen: dict[str, Figures]) -> Table:
    """The figures as people read them."""
    shown = Table(box=None, pad_edge=False)
    shown.add_column("who")
    for name in ("finished", "steps", "simulated s", "seconds", "requests/s", "ratio"):
        shown.add_column(name, justify="right")
    for name, figures in chosen.items():
        if "missing" in figures:
            shown.add_row(f"{name}: not installed")
            continue
        version = f" ({figures['version']})" if "version" in figures else ""
        steps = "" if figures["steps"] is None else f"{figures['steps']:,}"
        speed = f"{figures['finished'] / figures['seconds']:,.0f}"
        ratio = f"{figures['speed_by_ours']:.2f}"
        finished, simulated = (f"{figures[key]:,.0f}" for key in ("finished", "simulated_seconds"))
        seconds = f"{figures['seconds']:.2f}"
        shown.add_row(name + version, finished, steps, simulated, seconds, speed, ratio)
    return shown


@click.command()
@click.option("--requests", default=10_000, show_default=True)
@click.option("--rate", default=5.0, show_default=True, help="Requests a second.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--python", default=sys.executable, help="A Python that has the peers.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(requests: int, rate: float, rounds: int, python: str, path: Path | None) -> None:
    """Measure everyone `rounds` times in turns; the median counts."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        write_rows(rows, requests, rate)
        found = [one_round(rows, requests, rate, python) for _ in range(rounds)]
    chosen = medians(found)
    write_json(path, chosen)
    Console(width=110).print(table(chosen))


if __name__ == "__main__":
    main()
