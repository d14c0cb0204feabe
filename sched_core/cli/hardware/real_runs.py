"""Real runs beside simulated ones: `schedfw hardware validate --executor`."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from sched_core.calibration.real_runs import TIE, Validation, validate
from sched_core.catalogue.entries import find
from sched_core.catalogue.specs import parse_part, shown
from sched_core.cli.output import Format, print_csv, print_json, print_table
from sched_core.config import EngineConfig
from sched_core.experiment.scenario import Scenario

POLICIES = ("schedfw/fcfs", "schedfw/sjf+schedfw/predict-oracle", "schedfw/chunk:size=64")
"""What is compared by default: an order, a chunk size, and neither."""

WORKLOAD = "schedfw/poisson:n=60:prompt_len=16..512:output_len=8..64"
ENGINE = EngineConfig(
    max_num_batched_tokens=512, max_num_seqs=16, num_gpu_blocks=2000, max_model_len=1024
)
"""Sizes within those of the steps that calibration measures."""

_FIGURES = ("load", "policy", "figure", "measured", "lowest", "highest", "simulated", "error")
_AGREES = {True: "yes", False: "no", None: "none told apart"}


def compare(
    path: str,
    executor: str,
    model: str,
    policies: Sequence[str],
    workload: str,
    rounds: int,
    style: Format,
) -> None:
    """Print what simulation on the measured machine `path` says beside what happens for real."""
    executor = with_costs(executor, path)
    real = Scenario(hardware=executor, model=model, workload=workload, config=ENGINE)
    found = validate(real, f"schedfw/measured:path={path}", policies or POLICIES, rounds)
    if style == "json":
        setting: dict[str, object] = {"hardware": path, "executor": executor, "model": model}
        setting |= {"workload": shown(workload), "rounds": rounds, "config": attrs.asdict(ENGINE)}
        print_json(setting | document(found))
    elif style == "csv":
        print_csv(_FIGURES, map(_figure, found.figures))
    else:
        _print(found)


def with_costs(executor: str, path: str) -> str:
    """The spec `executor` with the prices of `path`, if it takes such a file and names none: what
    a policy decides by its costs is then decided alike for real and in simulation."""
    name, given = parse_part(executor, what="hardware")
    known = attrs.fields_dict(find("hardware", name).cls)
    return f"{executor}:costs={path}" if "costs" in known and "costs" not in given else executor


def _figure(row: Any) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in _FIGURES)


def document(found: Validation) -> dict[str, Any]:
    """`found` as plain JSON values."""
    return {
        "saturation": found.saturation,
        "figures": [dict(zip(_FIGURES, _figure(row), strict=True)) for row in found.figures],
        "steps": [attrs.asdict(row) for row in found.steps],
        "rankings": [{**attrs.asdict(row), "agrees": row.agrees} for row in found.rankings],
    }


def _print(found: Validation) -> None:
    print_table(
        _FIGURES,
        (
            (row.load, row.policy, row.figure, f"{row.measured:.4g}", f"{row.lowest:.4g}",
             f"{row.highest:.4g}", f"{row.simulated:.4g}", f"{row.error:+.1%}")
            for row in found.figures
        ),
    )  # fmt: skip
    print_table(
        ["load", "policy", "steps", "step error", "bias", "of their sum"],
        (
            (row.load, row.policy, row.steps, f"{row.error:.1%}", f"{row.bias:+.1%}",
             f"{row.total:+.1%}")
            for row in found.steps
        ),
    )  # fmt: skip
    print_table(
        ["load", "best to worst by", "measured", "simulated", f"agrees (ties: {TIE:.0%})"],
        (
            (row.load, row.figure, _order(row.medians), _order(row.simulated),
             _AGREES[row.agrees])
            for row in found.rankings
        ),
    )  # fmt: skip


def _order(figures: Mapping[str, float]) -> str:
    return " < ".join(sorted(figures, key=lambda policy: figures[policy]))
