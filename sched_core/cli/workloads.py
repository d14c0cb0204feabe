"""`schedfw workloads`: what there is, and what one of them holds."""

from collections.abc import Iterator, Mapping
from typing import Any

import rich_click as click

from sched_core.catalogue.entries import plugins
from sched_core.catalogue.plugin import Plugin
from sched_core.catalogue.specs import build, shown
from sched_core.cli.completion import WORKLOAD
from sched_core.cli.output import Format, format_option, plain, print_csv, print_json, print_table
from sched_core.cli.parameters import parameters, written
from sched_core.experiment.expectation import expect
from sched_core.experiment.scenario import DEFAULT_HARDWARE, DEFAULT_MODEL
from sched_core.workload.summary import summarize

_UNITS = {
    "duration": "s",
    "request_rate": "req/s",
    "prompt_len": "tokens",
    "output_len": "tokens",
    "tenants": "requests",
    "priorities": "requests",
}
_SHOWN = 12  # parts of one line of a table; the other formats hold all


@click.group()
def workloads() -> None:
    """Where requests come from: generators and trace readers."""


@workloads.command("list")
@format_option
def list_command(style: Format) -> None:
    """Every workload installed, with its parameters, and those that cannot be used."""
    entries = [_entry(plugin) for plugin in plugins("workloads")]
    if style == "json":
        return print_json(entries)
    if style == "csv":
        header = ["name", "distribution", "version", "summary", "parameters", "problem"]
        rows = ({**entry, "parameters": written(entry["parameters"])} for entry in entries)
        return print_csv(header, ([row[key] for key in header] for row in rows))
    return print_table(
        ["workload", "from", "what it is, and its parameters (key=... must be given)"],
        ([entry["name"], entry["distribution"], _about(entry)] for entry in entries),
    )


@workloads.command("describe")
@click.argument("spec", type=WORKLOAD)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--hardware",
    metavar="SPEC",
    default=DEFAULT_HARDWARE,
    help=f"What to expect it on. [default: {shown(DEFAULT_HARDWARE)}]",
)
@click.option(
    "--model", metavar="NAME", default=DEFAULT_MODEL, help=f"Likewise. [default: {DEFAULT_MODEL}]"
)
@format_option
def describe_command(spec: str, seed: int, hardware: str, model: str, style: Format) -> None:
    """What SPEC holds, such as poisson:request_rate=8 or trace:path=FILE; nothing is simulated.

    `repeated_prompt_share` is the share of prompt tokens in a prefix seen before: what a prefix
    cache that forgets nothing saves. `expected` holds the offered load against the most that one
    GPU serves, priced from a full step of this mix of lengths.
    """
    workload = build("workloads", spec).build(seed)
    expected = expect(workload, hardware, model)
    summary = {"workload": spec, **summarize(workload), "expected": expected}
    if style == "json":
        return print_json(summary)
    if style == "csv":
        return print_csv(["field", "value"], _flat(summary))
    told = {**summary, "expected": _expected(expected)}
    return print_table(["", ""], ((key, _line(key, value)) for key, value in told.items()))


def _entry(plugin: Plugin) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "summary": plugin.summary,
        "parameters": parameters(plugin.cls) if plugin.cls else [],
        "problem": plugin.problem,
    }


def _about(entry: Mapping[str, Any]) -> str:
    if entry["problem"]:
        return f"cannot be used: {entry['problem']}"
    return f"{entry['summary']}\n{written(entry['parameters'])}".strip()


def _expected(found: Mapping[str, Any]) -> str:
    """On what, and the sentence; the other formats hold the figures."""
    place = ", ".join(str(found[key]) for key in ("hardware", "model") if found[key])
    return f"on {place}: {found['verdict']}"


def _line(key: str, value: object) -> str | None:
    text = plain(value)
    if isinstance(value, Mapping):
        parts = [f"{name} {plain(part)}" for name, part in value.items() if part is not None]
        more = [f"and {len(parts) - _SHOWN} more"] if len(parts) > _SHOWN else []
        text = ", ".join(parts[:_SHOWN] + more)
    return f"{text} {_UNITS.get(key, '')}".rstrip() if value not in (None, {}) else None


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
