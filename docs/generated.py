"""Parts of the reference that the code says already; cog puts them into the pages.

`python tests/support/refresh_docs.py` calls it.
"""

import importlib.metadata
import inspect
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import attrs
import rich_click as click
from hook_order import heard

from hwmodels import shapes as models
from hwmodels.roofline import costs
from hwmodels.roofline.gpus import A100, GPUS, Roofline
from sched_core.catalogue.entries import plugins
from sched_core.catalogue.plugin import Plugin
from sched_core.cli import main
from sched_core.cli.output import plain
from sched_core.cli.parameters import parameters
from sched_core.policy.hookspecs import Decisions
from sched_core.policy.stack import Policy
from sched_core.workload.spec import FIELDS

SUMMARY = importlib.metadata.metadata("schedfw")["Summary"]
_OURS = ("schedfw", "schedfw-contrib-policies")
_LABEL = re.compile(r"^(?=[A-Z][A-Za-z ]*: )", re.MULTILINE)


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    titles = list(header)
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: object) -> str:
    return _flat(str("" if value is None else value)).replace("|", "\\|")


def _flat(text: str) -> str:
    return " ".join(text.split())


def described(doc: str | None, **more: str) -> str:
    """A docstring as Markdown: what it begins with, then its `Label: text` parts and `more` as a
    list, its example below. Its first paragraph has no label, whatever it looks like."""
    text, _, example = inspect.cleandoc(doc or "").partition("\n\n    ")
    first, _, body = text.partition("\n\n")
    rest, *parts = _LABEL.split(body)
    about = f"{first}\n\n{rest}"
    labelled = [part.split(": ", 1) for part in parts] + [[key, more[key]] for key in more]
    listed = "".join(f"* **{label}**: {_flat(text)}\n" for label, text in labelled)
    code = inspect.cleandoc(f"    {example}") if example else ""
    shown = f"```python\n{code}\n```\n" if code else ""
    return "\n".join(filter(None, (f"{about.strip()}\n", listed, shown)))


def llms(readme: str) -> str:
    """The pages as llmstxt.org has it: those of the documentation's README, with what each is."""
    text = readme.replace("# Documentation\n", f"# schedfw\n\n> {SUMMARY}\n", 1)
    text = re.sub(r"(?m)^To (\w)(.*):$", lambda to: f"## To {to[1]}{to[2]}", text)
    return re.sub(r"(?m)^\* ", "- ", text).rpartition("\n\n")[0] + "\n"


def hooks(kind: type) -> str:
    """The hooks of `Decisions` or `Events`."""
    return "\n".join(
        f"### {name}\n\n`{_signature(function)}`\n\n{described(function.__doc__)}"
        for name, function in _public(kind)
    )


def order() -> str:
    """What the run of `hook_order.py` asked and told, step by step."""
    rows = ([step, f"{at:g} s", ", ".join(map(_said, said))] for step, at, said in heard())
    return table(["step", "begins", "asked and told, in this order"], rows)


def _said(hook_and_request: str) -> str:
    hook, *request = hook_and_request.split(" ")
    return " ".join([f"`{hook}`", *request])


def _public(cls: type) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(cls).items() if name[0] != "_")


def _signature(function: Any) -> str:
    _self, *arguments = inspect.signature(function).parameters
    return f"{function.__name__}({', '.join(arguments)})"


def attributes(cls: type) -> str:
    """The public names of a view, and what each of them is."""
    rows = (
        (f"`{_signature(value) if inspect.isfunction(value) else name}`", inspect.getdoc(value))
        for name, value in _public(cls)
        if inspect.isfunction(value) or isinstance(value, property)
    )
    return table(["name", "what it is"], rows)


def names(module: ModuleType) -> str:
    """The public names of a module, and the first line about each."""
    return table(["name", "what it is"], ((f"`{n}`", _about(module, n)) for n in module.__all__))


def _about(module: ModuleType, name: str) -> str:
    value = getattr(module, name)
    own = inspect.isclass(value) or inspect.isfunction(value)
    text = value.__doc__ if own else _VALUES[name]
    return inspect.cleandoc(text or "").partition("\n\n")[0]


_VALUES = {
    "EMPTY_LOAD": "A step that holds nothing.",
    "NO_VICTIM": "Answer of `select_victim` that means: preempt nobody.",
    "RECOMPUTE": "Answer of `choose_preempt_mode`: compute the KV cache again.",
    "SWAP": "Answer of `choose_preempt_mode`: copy it to the host and back.",
    "files": "Readers of JSON, TOML, JSON lines and CSV whose one error names file and line: "
    "`files.read_csv(path)`.",
    "hookimpl": "Marks a method of a component as the answer to the hook of its name.",
    "limits": "How large numbers may be, and attrs validators that hold them to it: "
    "`limits.SECONDS`, `limits.Integers(1, 8)`.",
    "tables": "What readers of files of requests are made of: rows, stamps, columns, records.",
    "toolbox": "Parts that many policies need, below.",
}
"""Names whose values carry no docstring."""


def fields(cls: Any) -> str:
    """The fields of a named tuple, and the texts that follow them in its source."""
    source = inspect.getsource(cls)
    noted = re.findall(r'^    (\w+): \w+ = .*\n    """([^"]+)"""', source, re.MULTILINE)
    assert [name for name, _ in noted] == list(cls._fields)
    return table(["field", "what it is"], ((f"`{name}`", about) for name, about in noted))


def request_fields() -> str:
    """The keys of a listed request that are fields of a `RequestSpec`."""
    listed = [field for name, field in FIELDS.items() if name not in ("prefix", "extra")]
    return table(["key", "meaning", "default"], map(_request_field, listed))


def _request_field(field: Any) -> list[object]:
    must = "must be given" if field.default is attrs.NOTHING else f"`{field.default}`"
    return [f"`{field.name}`", field.metadata["about"], "" if field.default is None else must]


def policies() -> str:
    """Every component of schedfw's two distributions, under the first decision it takes."""
    found = _ours("policies")
    groups = {name: [p for p in found if _decides(p)[0] == name] for name, _ in _public(Decisions)}
    return "\n".join(
        "\n".join([f"## {hook}\n", *map(_component, group)])
        for hook, group in groups.items()
        if group
    )


def _ours(kind: str) -> list[Plugin]:
    """What comes with the repository, whatever else is installed."""
    return [plugin for plugin in plugins(kind) if plugin.distribution in _OURS]


def _decides(plugin: Plugin) -> list[str]:
    hooks = Policy([(plugin.name, plugin.cls)]).hooks
    return [name for name, _ in _public(Decisions) if hooks[name]]


def _component(plugin: Plugin) -> str:
    more = {"Answers": ", ".join(f"`{name}`" for name in _decides(plugin))}
    if defaults := [f"`{p['name']}` {_shown(p['default'])}" for p in parameters(plugin.cls)]:
        more = {"Defaults": ", ".join(defaults), **more}
    if starves := getattr(plugin.cls, "starves", None):
        more["May starve"] = starves
    if plugin.distribution != "schedfw":
        more["Distribution"] = f"`{plugin.distribution}`"
    return f"### {plugin.name}\n\n{described(plugin.cls.__doc__, **more)}"


def gpus() -> str:
    """The GPUs of `gpus.toml`."""
    header = ["name", "GPU", "peak, TFLOP/s", "bandwidth, GB/s", "memory, GiB", "source"]
    return table(header, ([f"`{name}`", *_gpu(data)] for name, data in GPUS.items()))


def _gpu(data: dict[str, Any]) -> list[object]:
    scaled = [data["peak_flops"] / 1e12, data["bandwidth"] / 1e9, data["memory"] / 2**30]
    return [data["gpu"], *(f"{value:g}" for value in scaled), data["source"]]


def other_hardware() -> str:
    """Every hardware of ours that is no roofline, and its parameters."""
    return "\n".join(
        f"### {plugin.name}\n\n{_flat(plugin.cls.__doc__)}\n\n{_abouts(plugin.cls)}"
        for plugin in _ours("hardware")
        if not issubclass(plugin.cls, Roofline)
    )


def _abouts(cls: type) -> str:
    abouts = {field.alias: field.metadata["about"] for field in attrs.fields(cls)}
    rows = ((f"`{p['name']}`", abouts[p["name"]], _default(p)) for p in parameters(cls))
    return table(["parameter", "meaning", "default"], rows)


def constants() -> str:
    """The parameters of a GPU, with those of the A100."""
    gpu, rows = A100(), []
    for field in attrs.fields(A100):
        origin = "`gpus.toml`" if field.name in A100.data else "default"
        origin = "fitted" if field.name in gpu.fit else origin
        value = plain(getattr(gpu, field.name))
        rows.append((f"`{field.name}`", field.metadata["about"], value, origin))
    return table(["constant", "meaning", "A100", "from"], rows)


def formula() -> str:
    """The docstring of `hwmodels.roofline.costs`, but for its first line."""
    return inspect.cleandoc(costs.__doc__ or "").partition("\n\n")[2] + "\n"


def shapes() -> str:
    """The models of `models.toml`."""
    header = ["name", "parameters, 10⁹", "KV bytes per token", "context", "source"]
    return table(
        header,
        (
            (f"`{name}`", f"{m.parameters / 1e9:.2f}", f"{m.kv_bytes_per_token:,}",
             f"{m.max_positions:,}", m.source)
            for name, m in models.catalogue().items()
        ),
    )  # fmt: skip


def workload_sources() -> str:
    """The readers of files, what each reads, and where such files come from."""
    readers = [p for p in _ours("workloads") if getattr(p.cls, "published", None)]
    rows = ([f"`{p.name}`", p.summary, p.cls.published] for p in readers)
    return table(["name", "what it reads", "where its files come from"], rows)


def workload_parameters() -> str:
    """The parameters of the workloads, each with those that have it."""
    owners: dict[tuple[str, ...], list[str]] = {}
    for plugin in _ours("workloads"):
        for p in parameters(plugin.cls):
            owners.setdefault((f"`{p['name']}`", p["type"], _default(p)), []).append(plugin.name)
    rows = ([*facts, ", ".join(names)] for facts, names in owners.items())
    return table(["parameter", "type", "default", "workloads"], rows)


def _default(parameter: dict[str, Any]) -> str:
    return "must be given" if parameter["required"] else _shown(parameter["default"])


def _shown(default: object) -> str:
    return "none" if default in (None, "") else f"`{default}`"


def commands() -> str:
    """Every command with its options."""
    return "\n".join(_command(*found) for found in _leaves(main, ("schedfw",)))


def _leaves(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[click.Command, tuple[str, ...]]]:
    if not isinstance(command, click.Group):
        yield command, path
        return
    for name, child in sorted(command.commands.items()):
        yield from _leaves(child, (*path, name))


def _command(command: click.Command, path: tuple[str, ...]) -> str:
    context = click.Context(command, info_name=" ".join(path))
    usage = " ".join([*path, *command.collect_usage_pieces(context)])
    named = [p for p in command.params if isinstance(p, click.Option)]
    records = [option.get_help_record(context) or ("", "") for option in named]
    rows = [(f"`{option}`", what) for option, what in records]
    listed = table(["option", "what it does"], rows)
    parts = [f"## {' '.join(path)}", f"`{usage}`", inspect.cleandoc(command.help or ""), listed]
    return "\n\n".join(parts)
