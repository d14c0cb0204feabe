"""`schedfw hardware show`: constants, and what they come to for a model."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import rich_click as click

from sched_core.calibration.measured_steps import step_load
from sched_core.catalogue.specs import build
from sched_core.cli.hardware.options import MODEL_HELP, spec_argument
from sched_core.cli.output import Format, format_option, print_csv, print_json, print_table
from sched_core.config import EngineConfig
from sched_core.execution.executor import Costs
from sched_core.execution.hardware import Described, Hardware

_CONFIG = EngineConfig()
_VICTIMS = (64, 256, 1024, 4096)


@click.command("show")
@spec_argument
@click.option("--model", help=MODEL_HELP)
@format_option
def show_command(spec: str, model: str | None, style: Format) -> None:
    """The constants of NAME, such as a100 or a100:ec=0.8, and what it charges for a model."""
    instance = build("hardware", spec)
    facts, priced = described(instance), _priced(instance, model) if model else {}
    if style == "json":
        print_json(facts | priced)
    elif style == "csv":
        pairs = [*_flat(facts), *(pair for part in priced.values() for pair in part.items())]
        print_csv(["field", "value"], ([key, _plain_list(value)] for key, value in pairs))
    else:
        _print(instance, facts, priced)


def described(instance: Any) -> dict[str, Any]:
    """What the hardware says of itself, or just its parameters where it says nothing."""
    return instance.describe() if isinstance(instance, Described) else attrs.asdict(instance)


def _print(instance: Any, facts: Mapping[str, Any], priced: Mapping[str, Any]) -> None:
    fields = {field.name: field for field in attrs.fields(type(instance))}
    meanings = {name: field.metadata.get("about", "") for name, field in fields.items()}
    print_table(
        ["constant", "value", "meaning"],
        ([name, getattr(instance, name), about] for name, about in meanings.items()),
    )
    tables = {key: value for key, value in facts.items() if _is_table(value)}
    other = [(key, value) for key, value in facts.items() if key not in (*fields, *tables)]
    print_table(["", ""], ((key, _plain_list(value)) for key, value in other))
    for title, rows in tables.items():
        print_table([title.replace("_", " "), *list(rows[0])[1:]], (row.values() for row in rows))
    for title, part in priced.items():
        print_table([title, ""], part.items())


def _is_table(value: object) -> bool:
    """A list of rows, each of which begins with its name."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _flat(facts: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, value in facts.items():
        if not _is_table(value):
            yield key, value
            continue
        for name, *cells in map(dict.items, value):
            yield from ((f"{key}.{name[1]}.{column}", cell) for column, cell in cells)


def _plain_list(value: object) -> object:
    return " ".join(map(str, value)) or None if isinstance(value, list) else value


def _priced(instance: Hardware, model: str) -> dict[str, dict[str, Any]]:
    """Capacity and prices for `model`, in the engine's default configuration."""
    executor = instance.executor(model, block_size=_CONFIG.block_size)
    setting = {
        "block_size": _CONFIG.block_size,
        "max_num_batched_tokens": _CONFIG.max_num_batched_tokens,
        "gpu_memory_utilization": _CONFIG.gpu_memory_utilization,
    }
    capacity = attrs.asdict(executor.capacity(**setting))  # type: ignore[arg-type]
    return {"capacity": setting | capacity, "milliseconds": _prices(executor.costs)}


def _prices(costs: Costs) -> dict[str, float]:
    """Milliseconds of a few steps and copies, which tell how this hardware weighs things."""
    one = step_load("decode", tokens=1, batch=1, kv_len=1024)
    decodes = step_load("decode", tokens=32, batch=32, kv_len=1024)
    prompt = step_load("prefill", tokens=2048, batch=1, kv_len=2048)
    seconds = {
        "decode of 1 request, context 1024": costs.step(one),
        "decode of 32 requests, context 1024": costs.step(decodes),
        "prompt of 2048 tokens": costs.step(prompt),
    }
    for tokens in _VICTIMS:
        blocks = tokens // _CONFIG.block_size
        copies = costs.swap_out(blocks, decodes) + costs.swap_in(blocks, decodes)
        seconds[f"victim of {tokens} tokens, recomputed beside the 32"] = costs.recompute(
            tokens, decodes
        )
        seconds[f"victim of {tokens} tokens, swapped out and back"] = copies
    return {what: 1e3 * value for what, value in seconds.items()}
