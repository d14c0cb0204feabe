"""`schedfw scenario`: a file to start from, a check of one, and what one may hold."""

from pathlib import Path
from typing import Any

import rich_click as click

from sched_core.cli.output import print_json
from sched_core.cli.whole_file import whole_file
from sched_core.errors import InputError
from sched_core.experiment import scenario as scenarios
from sched_core.experiment.prepare import prepare
from sched_core.experiment.schema import schema

START = f"""\
# A run of schedfw: `schedfw run FILE`, or `schedfw compare FILE --policies fcfs,priority`.
# What is commented out has the value shown by default. `schedfw scenario schema` tells all keys.

policy = "fcfs"             # a stack, such as priority:aging=30+adaptive, or ./edf.py:Edf
# hardware = "a100"         # schedfw hardware list
# model = "{scenarios.DEFAULT_MODEL}"   # a name, or the path of a Hugging Face config.json
# seed = 0
# horizon = 600             # seconds after which the run is cut off

[requests]                  # or one by one: [[requests]], id, arrival, prompt_len, output_len
workload = "poisson:request_rate=5:n=1000"   # schedfw workloads list

# [goodput]                 # limits in milliseconds; for a priority or a tenant: "ttft@0" = 200
# ttft = 1000
# tpot = 100

# [config]                  # the engine, in vLLM's words
# max_num_batched_tokens = 2048
# max_num_seqs = 256
# num_gpu_blocks = 29000    # what fits the memory
# enable_prefix_caching = false
"""


@click.group()
def scenario() -> None:
    """Files that describe a run."""


@scenario.command("new")
@click.argument("file", type=click.Path(path_type=Path))
def new_command(file: Path) -> None:
    """Write a FILE.toml to start from."""
    if file.exists():
        raise InputError("is there already", file=file, expected="the name of a new file")
    if file.suffix != ".toml":
        raise InputError("is no TOML file", file=file, expected="a name that ends in .toml")
    with whole_file(file) as out:
        out.write(START)


@scenario.command("check")
@click.argument("file", type=click.Path(path_type=Path))
def check_command(file: Path) -> None:
    """Say whether FILE can run: everything is looked up and built, and nothing is run."""
    prepared = prepare(found := scenarios.load(file), [found.policy])
    workload: dict[str, Any] = prepared.setting["workload"]
    (cell,) = prepared.cells
    click.echo(f"{file}: {cell.label}, {workload['requests']:,} requests")


@scenario.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of scenario files, for editors and other tools."""
    print_json(schema())
