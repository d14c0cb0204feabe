"""`schedfw policies`: which components there are, what each decides, and its parameters."""

import inspect
from collections.abc import Mapping
from typing import Any

import rich_click as click

from sched_core.catalogue.entries import find, plugins
from sched_core.catalogue.plugin import Plugin
from sched_core.catalogue.specs import build, parse_part, split_stack
from sched_core.cli.completion import POLICY
from sched_core.cli.output import Format, format_option, print_csv, print_json, print_table
from sched_core.cli.parameters import parameters
from sched_core.cli.policy_checks import check_command
from sched_core.cli.policy_new import new_command
from sched_core.errors import InputError, PluginLoadError
from sched_core.policy.hookspecs import Events
from sched_core.policy.stack import Policy

_MOVES = {
    "static": "static: asked once, when a request enters the queue",
    "clock": "clock: asked once, as all keys move alike with time",
    "event": "event: asked again when something happened to the request or its tenant",
    "time": "time: asked again before every scan of the queue",
}


@click.group()
def policies() -> None:
    """Policy components: what is installed, and what each of them does."""


policies.add_command(check_command)
policies.add_command(new_command)


@policies.command("list")
@format_option
def list_command(style: Format) -> None:
    """Every component installed, and those that cannot be used, with the reason."""
    entries = [_entry(plugin) for plugin in plugins("policies")]
    if style == "json":
        return print_json(entries)
    if style == "csv":
        header = ["name", "distribution", "version", "decides", "oracle", "starves", "summary",
                  "problem"]  # fmt: skip
        return print_csv(header, ([_flat(entry[key]) for key in header] for entry in entries))
    return print_table(
        ["policy", "from", "decides", "what it is"],
        ([e["name"], e["distribution"], "\n".join(e["decides"]), _about(e)] for e in entries),
    )


@policies.command("show")
@click.argument("name", type=POLICY)
@format_option
def show_command(name: str, style: Format) -> None:
    """What the component NAME does, its parameters, and the hooks it implements.

    With parameters, such as priority:aging=30, their values are shown too.
    """
    short, given = parse_part(_one_part(name), what="policy")
    plugin = find("policies", short)
    entry = _entry(plugin)
    if entry["problem"]:
        raise PluginLoadError(f"policy {short!r} cannot be used: {entry['problem']}")
    listed = parameters(plugin.cls, build("policies", name) if given else None)
    description = inspect.cleandoc(plugin.cls.__doc__ or "")
    if style == "json":
        return print_json({**entry, "parameters": listed, "description": description})
    if style == "csv":
        header = ["name", "type", "default", "required", *["value"] * bool(given)]
        return print_csv(header, (list(item.values()) for item in listed))
    return _print_shown(entry, listed, description)


def _one_part(spec: str) -> str:
    parts = split_stack(spec)
    if len(parts) > 1:
        raise InputError("is a stack", field="policy", value=spec, expected="one of its parts")
    return spec


def _entry(plugin: Plugin) -> dict[str, Any]:
    policy, problem = None, plugin.problem
    if plugin.cls:
        try:
            policy = Policy([(plugin.name, plugin.cls)])  # a class tells as much as an instance
        except PluginLoadError as error:
            problem = str(error)
    hooks = [name for name, hook in policy.hooks.items() if hook] if policy else []
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "decides": [name for name in hooks if not hasattr(Events, name)],
        "observes": [name for name in hooks if hasattr(Events, name)],
        "oracle": policy.oracle if policy else None,
        "starves": policy.declares.starves.get(plugin.name) if policy else None,
        "priority_moves": policy.moves if policy and "effective_priority" in policy.uses else None,
        "summary": plugin.summary,
        "problem": problem,
    }


def _about(entry: Mapping[str, Any]) -> str:
    if entry["problem"]:
        return f"cannot be used: {entry['problem']}"
    oracle = " Oracle." if entry["oracle"] else ""
    starves = f" May starve {entry['starves']}." if entry["starves"] else ""
    return f"{entry['summary']}{oracle}{starves}"


def _flat(value: object) -> object:
    return " ".join(value) if isinstance(value, list) else value


def _print_shown(entry: Mapping[str, Any], listed: list[dict[str, Any]], description: str) -> None:
    facts = {
        "policy": entry["name"],
        "from": f"{entry['distribution']} {entry['version']}",
        "decides": ", ".join(entry["decides"]) or None,
        "observes": ", ".join(entry["observes"]) or None,
        "oracle": "yes: it sees the true output length" if entry["oracle"] else "no",
        **({"may starve": entry["starves"]} if entry["starves"] else {}),
        "key moves": _MOVES.get(entry["priority_moves"]),
    }
    print_table(["", ""], facts.items())
    if listed:
        given = ["value"] if "value" in listed[0] else []
        print_table(
            ["parameter", "type", "default", *given],
            ([p["name"], p["type"], "must be given" if p["required"] else p["default"],
              *(p[name] for name in given)] for p in listed),
        )  # fmt: skip
    click.echo(description)
