"""Hardware known by measuring it: the file that `schedfw hardware calibrate --out` writes."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from hwmodels.linear_costs import LinearCosts
from sched_core import Capacity, InputError, StepOutcome, StepPlan, configure


@attrs.frozen(kw_only=True)
class Calibration:
    """A machine's steps with one model: the price fitted to them, and how far off it is."""

    model: str
    costs: LinearCosts
    setting: Mapping[str, Any]
    """Machine, versions and number format."""
    error: Mapping[str, float]
    """Of steps that the fit did not see; shares, not percent."""
    block_size: int
    """Tokens in the blocks whose copies were measured."""
    kv_bytes_per_token: int
    kv_memory: int
    """Bytes for K and V when all memory may be used."""
    max_model_len: int | None = None

    def to_toml(self) -> str:
        """The file's text; `read` takes it back."""
        values = attrs.asdict(self)
        values["constants"] = values.pop("costs")
        plain = {k: v for k, v in values.items() if v is not None and not isinstance(v, dict)}
        lines = _lines(plain)
        for name in ("constants", "error", "setting"):
            lines += ["", f"[{name}]", *_lines(values[name])]
        return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any]) -> list[str]:
    """TOML of numbers and plain strings, which is that of JSON."""
    return [f"{key} = {json.dumps(value)}" for key, value in table.items()]


def read(path: Path) -> Calibration:
    """The calibration in a file; raises InputError naming file and field."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except ValueError as error:
        raise InputError(f"is not TOML: {error}", file=path) from None
    raw["costs"] = raw.pop("constants", {})
    found: Calibration = configure(Calibration, raw, where=str(path))
    return found


@attrs.frozen(kw_only=True)
class Measured:
    """This machine as `hardware calibrate` measured it: steps are priced, not run."""

    path: str = attrs.field(metadata={"about": "file written by hardware calibrate --out"})

    def executor(self, model: str | None, *, block_size: int) -> "MeasuredExecutor":
        """Raises InputError where the file cannot be read, or was measured with another model."""
        found = read(Path(self.path))
        if model != found.model:
            raise InputError(
                f"{self.path} was measured with model {found.model!r}",
                field="model",
                value=model,
                expected=found.model,
            )
        return MeasuredExecutor(found, block_size)


@attrs.frozen
class MeasuredExecutor:
    """Prices the steps of the model that was measured."""

    calibration: Calibration
    block_size: int
    modelled = True

    @property
    def costs(self) -> LinearCosts:
        """A block of another size takes as much longer to copy as it is larger."""
        measured, scale = self.calibration.costs, self.block_size / self.calibration.block_size
        return attrs.evolve(
            measured, block_out=measured.block_out * scale, block_in=measured.block_in * scale
        )

    def execute(self, plan: StepPlan) -> StepOutcome:
        return StepOutcome(self.costs.step(plan.load))

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity:
        """Blocks in that share of the memory that was free beside the weights."""
        found = self.calibration
        block_bytes = block_size * found.kv_bytes_per_token
        blocks = int(found.kv_memory * gpu_memory_utilization) // block_bytes
        return Capacity(blocks, found.max_model_len, block_bytes)

    def describe(self) -> dict[str, object]:
        """Model and machine, and the error of the prices."""
        return {
            "model": self.calibration.model,
            **self.calibration.setting,
            "efficiencies": f"fitted; {self.calibration.error['held_out']:.1%} mean error",
        }
