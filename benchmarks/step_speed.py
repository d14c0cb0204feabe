"""What one step takes with 8 to 1,024 requests running, beside vLLM's scheduler.

    python benchmarks/step_speed.py --running 256 --json steps.json

All requests decode; a step is all of it: it is scheduled, priced and taken in. Three ways: as one,
where no policy has a word on the running requests; every request visited, in the order that an
answer to `order_running` gives; and every request also looked at, to put decodes first.
"""

import json
from pathlib import Path
from typing import Any

import rich_click as click
from loads import DecodesFirst, VisitEveryone, own
from measuring import component, engine, in_own_process, timed, until_enough, work_done, write_json
from rich.console import Console
from rich.table import Table

from sched_core import EngineConfig, Policy, Workload

WAYS = {
    "as one": lambda: Policy.from_spec("fcfs"),
    "visited": own(VisitEveryone()),
    "decodes first": own(DecodesFirst()),
}
VLLM_US = {8: 136, 64: 778, 256: 3_034}
"""Microseconds of a scheduler step of vLLM 0.33, as this project's issue 8 gives them."""
GOAL_US = 100
"""For every request visited, at 256 running."""
PROMPT, OUTPUT = "33..96", 4_096


def measure(running: int, way: str, steps: int) -> dict[str, Any]:
    """Microseconds of a step; the median of five times `steps` steps."""
    lengths = {"prompt_len": PROMPT, "output_len": str(OUTPUT)}
    everyone: Workload = component("workloads", "closed", n=running, **lengths).build(0)
    config = EngineConfig(
        max_num_batched_tokens=2_048, max_num_seqs=running, num_gpu_blocks=512 * running
    )
    workload = Workload(everyone.requests)
    run = engine(workload, config, WAYS[way](), leaps=False)

    def some_steps() -> None:
        for _ in range(steps):
            run.advance()

    while run.counts()["running"] < running:
        run.advance()
    some_steps()  # the last prompts end
    before = work_done(run)
    seconds = until_enough(lambda: timed(some_steps), most=5, enough=10)
    done = work_done(run)
    return {
        "running": done["running"],
        "way": way,
        "steps": done["steps"] - before["steps"],
        "us_per_step": seconds / steps * 1e6,
        "vllm_us_per_step": VLLM_US.get(running),
    }


def table(rows: list[dict[str, Any]]) -> Table:
    """One row per number of running requests."""
    shown = Table(box=None, pad_edge=False)
    for name in ("running", *(f"{way}, us" for way in WAYS), "vLLM's, us", "visited / vLLM's"):
        shown.add_column(name, justify="right")
    for running in dict.fromkeys(row["running"] for row in rows):
        ways = {row["way"]: row["us_per_step"] for row in rows if row["running"] == running}
        theirs = VLLM_US.get(running)
        beside = (f"{theirs:,}", f"{ways['visited'] / theirs:.2f}") if theirs else ("", "")
        shown.add_row(f"{running:,}", *(f"{ways[way]:,.0f}" for way in WAYS), *beside)
    return shown


@click.command()
@click.option("--running", type=int, multiple=True, default=(8, 64, 256, 1_024), show_default=True)
@click.option("--steps", default=400, show_default=True, help="Steps in a measurement.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
@click.option("--here", type=click.Choice(list(WAYS)), hidden=True, help="Measure here, as JSON.")
def main(running: tuple[int, ...], steps: int, path: Path | None, here: str | None) -> None:
    """Measure a step at every number of running requests given."""
    if here:
        (size,) = running
        click.echo(json.dumps(measure(size, here, steps)))
        return
    rows = [
        in_own_process(__file__, "--running", size, "--steps", steps, "--here", way)
        for size in running
        for way in WAYS
    ]
    write_json(path, rows)
    Console(width=100).print(table(rows))


if __name__ == "__main__":
    main()
