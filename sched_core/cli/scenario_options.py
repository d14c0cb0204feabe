"""The options that describe a run, shared by `run` and `compare`: the keys of a scenario file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import attrs
import rich_click as click

from sched_core.catalogue.specs import shown
from sched_core.cli.completion import HARDWARE, WORKLOAD
from sched_core.cli.executor_options import EXECUTOR_OPTIONS, with_hardware
from sched_core.config import EngineConfig
from sched_core.errors import InputError
from sched_core.experiment import scenario as scenarios
from sched_core.experiment.scenario import Scenario

_ENGINE_HELP = {
    "max_num_batched_tokens": "Token budget of one step.",
    "max_num_seqs": "Most requests running at once.",
    "max_model_len": "Longest prompt + output; by default the model's context.",
    "block_size": "Tokens in a KV block.",
    "num_gpu_blocks": "KV blocks in the pool; by default what fits the memory.",
    "num_cpu_blocks": "KV blocks in the host swap pool.",
    "gpu_memory_utilization": "Share of the device memory to use.",
    "enable_chunked_prefill": "May a prompt be computed over several steps?",
    "long_prefill_token_threshold": "Cap on a chunk while others are in the system; 0 is off.",
    "watermark": "Share of the pool that an admission leaves free.",
    "scheduler_reserve_full_isl": "Admit only where the whole known sequence fits.",
    "batching": "continuous, static or padded: when the batch is recomposed.",
    "enable_prefix_caching": "Reuse full blocks of a common prefix.",
}


def _goodput(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, float]:
    limits: dict[str, float] = {}
    for value in values:
        name, _colon, rest = value.partition(":")
        for part in rest.split("/"):
            limit, at, whose = part.partition("@")
            key = f"{name}@{whose}" if at else name
            if key in limits:
                raise InputError(
                    f"{key} given twice", field="--goodput", value=value, expected="one limit each"
                )
            limits[key] = _milliseconds(limit, value)
    return limits


def _milliseconds(limit: str, value: str) -> float:
    try:
        return float(limit)
    except ValueError:
        expected = "NAME:MILLISECONDS, or NAME:MILLISECONDS@CLASS/... for priorities or tenants"
        raise InputError("not a limit", field="--goodput", value=value, expected=expected) from None


_SCENARIO_OPTIONS: list[Callable[[Any], Any]] = [
    click.argument("file", metavar="[SCENARIO]", required=False, type=click.Path(path_type=Path)),
    click.option(
        "--workload",
        type=WORKLOAD,
        metavar="SPEC",
        help="Such as gamma:cv=3, or azure:path=FILE; see `schedfw workloads list`. "
        f"[default: {shown(scenarios.DEFAULT_WORKLOAD)}]",
    ),
    click.option(
        "--hardware",
        type=HARDWARE,
        metavar="SPEC",
        help="Such as h100, or constant:step=0.03; see `schedfw hardware list`. "
        f"[default: {shown(scenarios.DEFAULT_HARDWARE)}]",
    ),
    click.option(
        "--model",
        metavar="NAME",
        help="A name, or a path to a Hugging Face config.json. "
        f"[default: {scenarios.DEFAULT_MODEL}]",
    ),
    *EXECUTOR_OPTIONS,
    click.option("--seed", type=int, help="Seed of everything random. [default: 0]"),
    click.option("--horizon", type=float, help="Cut the run off after so many seconds."),
    click.option(
        "--goodput",
        multiple=True,
        callback=_goodput,
        metavar="NAME:MS[@CLASS]",
        help="A limit on ttft, tpot or e2el that good requests meet, for all or for a class: "
        "ttft:500, or ttft:500@0/2000@gold for priority 0 and tenant gold. May be repeated.",
    ),
    click.option(
        "--warmup",
        type=float,
        metavar="SECONDS",
        help="Leave out of latencies and rates who arrives so early. [default: 0]",
    ),
    click.option(
        "--drain",
        is_flag=True,
        default=None,
        help="Leave out of the rates what happens after the last arrival.",
    ),
]


def _engine_option(field: "attrs.Attribute[Any]") -> Callable[[Any], Any]:
    """As vLLM spells it: `--enable-chunked-prefill/--no-enable-chunked-prefill`."""
    name = field.name.replace("_", "-")
    flag = f"--{name}/--no-{name}" if field.type is bool else f"--{name}"
    default = "" if field.default is None else f" [default: {field.default}]"
    return click.option(
        flag,
        field.name,
        type=_click_type(field.type),
        metavar="MODE" if get_origin(field.type) is Literal else None,
        default=None,
        help=_ENGINE_HELP.get(field.name, "") + default,
    )


def _click_type(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    return kind if kind in (bool, float) else int


ENGINE_OPTIONS = [f"--{field.name.replace('_', '-')}" for field in attrs.fields(EngineConfig)]


def scenario_options(*but: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add all options but those named; `chosen` turns what click hands over into a Scenario."""
    fields = [field for field in attrs.fields(EngineConfig) if field.name not in but]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(_SCENARIO_OPTIONS + [_engine_option(field) for field in fields]):
            command = option(command)
        return command

    return add


def chosen(file: Path | None, given: dict[str, Any]) -> Scenario:
    """The scenario in `file`, or the default one, under the options that were given."""
    keys = {key: value for key, value in given.items() if value is not None and value != {}}
    keys = with_hardware(keys)
    config = {
        field.name: keys.pop(field.name)
        for field in attrs.fields(EngineConfig)
        if field.name in keys
    }
    if "workload" in keys:
        keys["requests"] = {"workload": keys.pop("workload")}
    return scenarios.load(file, {**keys, "config": config})
