"""Hardware known by measuring it: the file that `schedfw hardware calibrate --out` writes."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import attrs
import tomli_w

from hwmodels.measured.linear_costs import LinearCosts
from hwmodels.validators import non_negative, positive, positive_int
from sched_core import Capacity, InputError, StepOutcome, StepPlan, configure, files, limits


@attrs.frozen(kw_only=True)
class Memory:
    """Bytes for K and V, all of it: what a step's attention reads to besides is left out."""

    whole: int = attrs.field(validator=positive)
    """If nothing else took any."""
    taken: int = attrs.field(validator=non_negative)
    """By the weights, and whatever else is there before a step."""
    per_token: float = attrs.field(validator=non_negative)
    """By each token of the largest step."""

    @classmethod
    def seen(cls, free: Callable[[float, int], int], tokens: int) -> Self:
        """From `free(utilization, tokens of the largest step)`, linear in both, asked for up to
        `tokens`."""
        least, most = free(0.0, 1), free(0.0, tokens)
        per_token = (least - most) / (tokens - 1)
        taken = math.ceil(-least - per_token)
        return cls(whole=free(1.0, 1) - least, taken=max(0, taken), per_token=per_token)

    def free(self, utilization: float, tokens: int) -> int:
        """What is left in that share of the memory beside a step of so many tokens."""
        return int(self.whole * utilization - self.taken - self.per_token * tokens)


def _has_mean_error(_: object, field: "attrs.Attribute[Any]", value: Mapping[str, float]) -> None:
    if "held_out" not in value:
        raise InputError("is missing", field=f"{field.name}.held_out", expected="a share, as 0.05")


@attrs.frozen(kw_only=True)
class Calibration:
    """A machine's steps with one model: the price fitted to them, and how far off it is."""

    model: str
    costs: LinearCosts
    setting: Mapping[str, Any]
    """Machine, versions and number format."""
    error: Mapping[str, float] = attrs.field(validator=_has_mean_error)
    """Of steps that the fit did not see; shares, not percent."""
    block_size: int = attrs.field(validator=positive_int)
    """Tokens in the blocks whose copies were measured."""
    kv_bytes_per_token: int = attrs.field(validator=positive_int)
    memory: Memory
    max_model_len: int | None = None

    def to_toml(self) -> str:
        """The file's text; `read` takes it back."""
        values = {key: value for key, value in attrs.asdict(self).items() if value is not None}
        tables = {name: values.pop(name) for name in (*TABLES, "error", "setting")}
        text = tomli_w.dumps(values | tables)
        return text.encode("utf-8", "replace").decode()  # a path's odd bytes are in no text file


TABLES = {"costs": LinearCosts, "memory": Memory}


def read(path: Path) -> Calibration:
    """The calibration in a file; raises InputError naming file and field."""
    raw = files.read_toml(path)
    for name, cls in TABLES.items():
        if isinstance(raw.get(name), dict):
            configure(cls, raw[name], where=f"{path}, [{name}]")  # says which of its keys is wrong
    found: Calibration = configure(Calibration, raw, where=str(path))
    return found


@attrs.frozen(kw_only=True)
class Measured:
    """This machine as `hardware calibrate` measured it: steps are priced, not run."""

    path: str = attrs.field(
        validator=limits.text,
        metadata={"about": "file written by hardware calibrate --out", "file": True},
    )

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
    modelled: ClassVar[bool] = True
    costs: LinearCosts = attrs.field(init=False)

    @costs.default
    def _scaled(self) -> LinearCosts:
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
        """As many blocks as the executor had that was measured."""
        found = self.calibration
        block_bytes = block_size * found.kv_bytes_per_token
        blocks = found.memory.free(gpu_memory_utilization, max_num_batched_tokens) // block_bytes
        if blocks < 1:
            raise InputError(
                f"no KV block of {block_bytes} bytes fits beside {found.model}",
                field="gpu_memory_utilization",
                value=gpu_memory_utilization,
                expected="more of the memory",
            )
        return Capacity(blocks, found.max_model_len, block_bytes)

    def describe(self) -> dict[str, object]:
        """Model and machine, and the error of the prices."""
        return {
            "model": self.calibration.model,
            **self.calibration.setting,
            "efficiencies": f"fitted; {self.calibration.error['held_out']:.1%} mean error",
        }
