"""`schedfw workloads`: what there is, and what one of them holds."""

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, Literal

import attrs
import rich_click as click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sched_core.catalogue import Plugin, build, plugins
from sched_core.workload_summary import summarize

Format = Literal["table", "json", "csv"]

_FORMAT = click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print.",
)

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
@_FORMAT
def list_command(style: Format) -> None:
    """Name, origin and parameters of every workload installed."""
    entries = [_entry(plugin) for plugin in plugins("workloads")]
    if style == "json":
        _print_json(entries)
    elif style == "csv":
        header = ["name", "distribution", "version", "summary", "parameters", "problem"]
        _print_csv(header, ({**e, "parameters": _parameters(e)}.values() for e in entries))
    else:
        Console().print(_list_table(entries))


@workloads.command("describe")
@click.argument("spec")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@_FORMAT
def describe_command(spec: str, seed: int, style: Format) -> None:
    """What SPEC holds, such as poisson:request_rate=8 or trace:path=FILE; nothing is simulated.

    `repeated_prompt_share` is the share of prompt tokens in a prefix seen before: the most that a
    prefix cache can save.
    """
    summary = {"workload": spec, **summarize(build("workloads", spec).build(seed))}
    if style == "json":
        _print_json(summary)
    elif style == "csv":
        _print_csv(["field", "value"], _flat(summary))
    else:
        Console().print(_summary_table(summary))


def _entry(plugin: Plugin) -> dict[str, Any]:
    fields = attrs.fields(plugin.cls) if plugin.cls else ()
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "summary": plugin.summary,
        "parameters": [_parameter(field) for field in fields if field.init],
        "problem": plugin.problem,
    }


def _parameter(field: "attrs.Attribute[Any]") -> dict[str, Any]:
    required = field.default is attrs.NOTHING
    default = None if required else field.default
    plain = default is None or isinstance(default, (str, int))
    finite = isinstance(default, float) and isfinite(default)
    return {
        "name": field.alias,
        "required": required,
        "default": default if plain or finite else str(default),
    }


def _parameters(entry: Mapping[str, Any]) -> str:
    """`path=... limit= time_scale=1.0`: required ones show dots, unset ones nothing."""
    return " ".join(
        f"{item['name']}={'...' if item['required'] else _plain(item['default'])}"
        for item in entry["parameters"]
    )


def _list_table(entries: list[dict[str, Any]]) -> Table:
    table = Table(
        "workload", "from", "what it is, and its parameters with their defaults",
        box=None, pad_edge=False, caption="key=... must be given; key= may be left out",
        caption_justify="left",
    )  # fmt: skip
    for entry in entries:
        about = escape(entry["summary"])
        if entry["problem"]:
            about = f"[red]cannot be used: {escape(entry['problem'])}[/red]"
        parameters = escape(_parameters(entry))
        table.add_row(
            f"[bold]{escape(entry['name'])}[/bold]",
            escape(entry["distribution"]),
            f"{about}\n[dim]{parameters}[/dim]" if parameters else about,
        )
    return table


def _summary_table(summary: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for key, value in summary.items():
        table.add_row(key, escape(_line(value, _UNITS.get(key, ""))))
    return table


def _line(value: object, unit: str) -> str:
    text = _plain(value)
    if isinstance(value, Mapping):
        shown = [f"{key} {_plain(item)}" for key, item in value.items() if item is not None]
        more = [f"and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
        text = ", ".join(shown[:_SHOWN] + more)
    return f"{text} {unit}".rstrip() if text else "-"


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _plain(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, allow_nan=False))


def _print_csv(header: list[str], rows: Iterator[Any]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
