"""`schedfw hardware list`."""

from collections.abc import Mapping
from typing import Any

import attrs
import rich_click as click

from sched_core.catalogue.entries import plugins
from sched_core.catalogue.plugin import Plugin
from sched_core.cli.hardware.show import described
from sched_core.cli.output import Format, format_option, print_csv, print_json, print_table

_FIELDS = (
    "name", "distribution", "version", "summary", "memory", "bandwidth", "efficiencies", "problem"
)  # fmt: skip


@click.command("list")
@format_option
def list_command(style: Format) -> None:
    """Every hardware model installed, and those that cannot be used, with the reason."""
    entries = [_entry(plugin) for plugin in plugins("hardware")]
    if style == "json":
        print_json(entries)
    elif style == "csv":
        print_csv(_FIELDS, ([entry[key] for key in _FIELDS] for entry in entries))
    else:
        print_table(["name", "from", "memory", "bandwidth", "what it is"], map(_cells, entries))


def _entry(plugin: Plugin) -> dict[str, Any]:
    entry = {key: getattr(plugin, key, None) for key in _FIELDS}
    if plugin.cls is None or not _has_defaults(plugin.cls):
        return entry
    try:
        facts = described(plugin.cls())
    except Exception as error:  # anything may happen in foreign code
        return entry | {"problem": f"{type(error).__name__}: {error}"}
    return entry | {key: facts.get(key) for key in ("memory", "bandwidth", "efficiencies")}


def _has_defaults(cls: Any) -> bool:
    return all(field.default is not attrs.NOTHING for field in attrs.fields(cls))


def _cells(entry: Mapping[str, Any]) -> list[object]:
    problem = entry["problem"] and f"cannot be used: {entry['problem']}"
    about = filter(None, (problem, entry["summary"], entry["efficiencies"]))
    return [
        entry["name"],
        entry["distribution"],
        _scaled(entry["memory"], 2**30, "GiB"),
        _scaled(entry["bandwidth"], 1e9, "GB/s"),
        "\n".join(about),
    ]


def _scaled(value: float | None, unit: float, name: str) -> str | None:
    return None if value is None else f"{value / unit:.4g} {name}"
