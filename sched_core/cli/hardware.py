"""`schedfw hardware`: which there is, what it charges, and how far that is from measurements."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import rich_click as click
from click.core import ParameterSource
from click.globals import get_current_context

from sched_core.calibration.measured_steps import (
    Deviation,
    MeasuredStep,
    Pricer,
    deviations,
    price_left_out,
    read_steps,
    step_load,
)
from sched_core.calibration.real_runs import ROUNDS
from sched_core.catalogue.entries import Plugin, plugins
from sched_core.catalogue.specs import build
from sched_core.cli import hardware_real
from sched_core.cli.output import Format, format_option, print_csv, print_json, print_table
from sched_core.config import EngineConfig
from sched_core.errors import UsageError
from sched_core.execution.executor import Costs
from sched_core.execution.hardware import Calibrated, Described, Hardware

_CONFIG = EngineConfig()
_ERROR_FIELDS = [field.name for field in attrs.fields(Deviation)]
_MODEL_HELP = "A name such as llama-3-8b, or a path to a Hugging Face config.json."

_spec = click.argument("spec", metavar="NAME")
_executor = click.option(
    "--executor", metavar="NAME", help="Run steps of a real model, such as torch:threads=1."
)
_model = click.option("--model", required=True, help=_MODEL_HELP)
_against = click.option(
    "--against",
    "file",
    type=click.Path(path_type=Path),
    help="CSV of measured steps: model, kind, tokens, batch, kv_len, measured_ms.",
)


def _refuse_unless_executor(executor: str | None, *others: str) -> None:
    """Options of the other half of a command are not read in silence."""
    context = get_current_context()
    given = [
        name for name in others if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given and executor is None:
        raise UsageError(f"--{given[0]} is for --executor")


@click.group()
def hardware() -> None:
    """How long a step takes: hardware models, their constants and their errors."""


@hardware.command("list")
@format_option
def list_command(style: Format) -> None:
    """Every hardware model installed, and those that cannot be used, with the reason."""
    entries = [_entry(plugin) for plugin in plugins("hardware")]
    if style == "json":
        print_json(entries)
    elif style == "csv":
        print_csv(_ENTRY_FIELDS, ([entry[key] for key in _ENTRY_FIELDS] for entry in entries))
    else:
        print_table(["name", "from", "memory", "bandwidth", "what it is"], map(_cells, entries))


_ENTRY_FIELDS = (
    "name", "distribution", "version", "summary", "memory", "bandwidth", "efficiencies", "problem"
)  # fmt: skip


def _entry(plugin: Plugin) -> dict[str, Any]:
    entry = {key: getattr(plugin, key, None) for key in _ENTRY_FIELDS}
    if plugin.cls is None or not _has_defaults(plugin.cls):
        return entry
    try:
        facts = _facts(plugin.cls())
    except Exception as error:  # anything may happen in foreign code
        return entry | {"problem": f"{type(error).__name__}: {error}"}
    return entry | {key: facts.get(key) for key in ("memory", "bandwidth", "efficiencies")}


def _has_defaults(cls: Any) -> bool:
    return all(field.default is not attrs.NOTHING for field in attrs.fields(cls))


def _facts(instance: Any) -> dict[str, Any]:
    """What the hardware says of itself, or just its parameters where it says nothing."""
    return instance.describe() if isinstance(instance, Described) else attrs.asdict(instance)


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


@hardware.command("show")
@_spec
@click.option("--model", help=_MODEL_HELP)
@format_option
def show_command(spec: str, model: str | None, style: Format) -> None:
    """The constants of NAME, such as a100 or a100:ec=0.8, and what it charges for a model."""
    instance = build("hardware", spec)
    facts, priced = _facts(instance), _priced(instance, model) if model else {}
    if style == "json":
        print_json(facts | priced)
    elif style == "csv":
        pairs = [*facts.items(), *(pair for part in priced.values() for pair in part.items())]
        print_csv(["field", "value"], ([key, _plain_list(value)] for key, value in pairs))
    else:
        _print_shown(instance, facts, priced)


def _print_shown(instance: Any, facts: Mapping[str, Any], priced: Mapping[str, Any]) -> None:
    fields = {field.name: field for field in attrs.fields(type(instance))}
    meanings = {name: field.metadata.get("about", "") for name, field in fields.items()}
    print_table(
        ["constant", "value", "meaning"],
        ([name, getattr(instance, name), about] for name, about in meanings.items()),
    )
    other = [(key, _plain_list(value)) for key, value in facts.items() if key not in fields]
    print_table(["", ""], other)
    for title, part in priced.items():
        print_table([title, ""], part.items())


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


_VICTIMS = (64, 256, 1024, 4096)


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


@hardware.command("validate")
@_spec
@_model
@_against
@_executor
@click.option("--policy", multiple=True, help="With --executor: may be repeated.")
@click.option("--workload", default=hardware_real.WORKLOAD, help="With --executor.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=ROUNDS,
    help=f"With --executor: real runs of each policy, in turns. [default: {ROUNDS}]",
)
@format_option
def validate_command(
    spec: str,
    model: str,
    file: Path | None,
    executor: str | None,
    policy: tuple[str, ...],
    workload: str,
    rounds: int,
    style: Format,
) -> None:
    """The relative error of NAME's step times against measured ones, per kind of step.

    `error` is the mean of the absolute values, `bias` the mean with sign (above 0: priced too
    slow), `worst` the one furthest from 0.

    With --executor, NAME is a file written by `calibrate --out`: a workload is run for real and in
    simulation, at light load and at 1.5 times the most that can be served. `measured` is the median
    of the rounds, `error` how far the simulation is from it. Policies that ask for costs are told
    those of the file in both, unless the executor's spec says `costs=`.
    """
    _refuse_unless_executor(executor, "policy", "workload", "rounds")
    if executor is not None:
        if file is not None:
            raise UsageError("--against and --executor say both what to measure against")
        hardware_real.compare(spec, executor, model, policy, workload, rounds, style)
        return
    if file is None:
        raise UsageError("validate needs --against FILE, or --executor NAME")
    steps = read_steps(file)
    errors = _errors(steps, _pricer(build("hardware", spec), model))
    if style == "json":
        setting = {"hardware": spec, "model": model, "against": str(file)}
        print_json(setting | {"kinds": [attrs.asdict(item) for item in errors]})
    elif style == "csv":
        print_csv(_ERROR_FIELDS, map(attrs.astuple, errors))
    else:
        print_table(_ERROR_FIELDS, map(_percentages, errors))


def _pricer(instance: Hardware, model: str) -> Pricer:
    return instance.executor(model, block_size=_CONFIG.block_size).costs.step


def _errors(steps: Sequence[MeasuredStep], price: Pricer) -> list[Deviation]:
    return deviations(steps, [price(step.load) for step in steps])


def _percentages(item: Deviation) -> tuple[object, ...]:
    return (item.kind, item.rows, f"{item.error:.2%}", f"{item.bias:+.2%}", f"{item.worst:+.2%}")


@hardware.command("calibrate")
@click.argument("spec", metavar="[NAME]", required=False)
@_model
@_against
@_executor
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="With --executor.")
@click.option(
    "--steps",
    type=click.IntRange(min=10),
    default=100,
    help="With --executor: steps to fit to. [default: 100]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    help="With --executor: runs of each step. [default: 5]",
)
@format_option
def calibrate_command(
    spec: str | None,
    model: str,
    file: Path | None,
    executor: str | None,
    out: Path | None,
    steps: int,
    repeats: int,
    style: Format,
) -> None:
    """The constants of NAME that come closest to measured step times.

    `error` is that of the rows fitted. `left out` prices each row by a fit to the two thirds of
    the rows that do not hold it, which is what to expect of rows that are not in the file.

    With --executor random mixed steps are run and timed here, and a linear price fitted to them is
    written to --out, for `--hardware measured:path=FILE`.
    """
    _refuse_unless_executor(executor, "out", "steps", "repeats")
    if executor is not None:
        if file is not None or spec is not None:
            raise UsageError("calibrate --executor measures by itself: no NAME, no --against")
        if out is None:
            raise UsageError("calibrate --executor needs --out FILE")
        hardware_real.calibrate(executor, model, out, steps=steps, repeats=repeats)
        return
    if spec is None or file is None:
        raise UsageError(
            "calibrate needs NAME and --against FILE, or --executor NAME and --out FILE"
        )
    instance, measured = build("hardware", spec), read_steps(file)
    if not isinstance(instance, Calibrated):
        raise UsageError(f"hardware {spec!r} has no constants that could be fitted")
    constants, fitted, left_out = _calibration(instance, model, measured)
    if style == "json":
        errors = {"fitted": fitted, "left_out": left_out}
        listed = {key: [attrs.asdict(item) for item in found] for key, found in errors.items()}
        print_json({"constants": constants} | listed)
    elif style == "csv":
        print_csv(["constant", "value"], constants.items())
    else:
        print_table(["constant", "value"], constants.items())
        pairs = zip(fitted, left_out, strict=True)
        print_table(
            ["kind", "rows", "error", "left out"],
            ((a.kind, a.rows, f"{a.error:.2%}", f"{b.error:.2%}") for a, b in pairs),
        )


def _calibration(
    instance: Calibrated, model: str, steps: Sequence[MeasuredStep]
) -> tuple[dict[str, float], list[Deviation], list[Deviation]]:
    """The constants fitted to `steps`, their errors there, and the errors on thirds left out."""

    def fit(some: Sequence[MeasuredStep]) -> dict[str, float]:
        return instance.calibrate(model, [s.load for s in some], [s.seconds for s in some])

    def pricer(constants: Mapping[str, float]) -> Pricer:
        return _pricer(_with(instance, constants), model)

    constants = fit(steps)
    left_out = price_left_out(lambda some: pricer(fit(some)), steps)
    return constants, _errors(steps, pricer(constants)), deviations(steps, left_out)


def _with(instance: Any, constants: Mapping[str, float]) -> Any:
    return attrs.evolve(instance, **constants)
