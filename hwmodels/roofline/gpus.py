"""GPUs whose steps are priced by the roofline of `hwmodels.roofline.costs`."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs

from hwmodels import shapes as models
from hwmodels.roofline.costs import RooflineCosts
from hwmodels.validators import positive, positive_int, positive_seconds, seconds
from sched_core import Capacity, InputError, StepLoad, StepOutcome, StepPlan, files

GPUS: Mapping[str, Any] = files.read_toml(Path(__file__).with_name("gpus.toml"))
"""Constants of each GPU, by the name of its entry point."""


def _from(table: str, key: str, about: str, validator: Callable[..., None] = positive) -> Any:
    """A parameter whose default is `key` of the GPU's `data` or `fit`."""
    default = attrs.Factory(lambda self: getattr(self, table)[key], takes_self=True)
    return attrs.field(default=default, validator=validator, metadata={"about": about})


def _given(default: float, about: str, validator: Callable[..., None] = seconds) -> Any:
    """A parameter that is the same for every GPU."""
    return attrs.field(default=default, validator=validator, metadata={"about": about})


@attrs.frozen(kw_only=True, slots=False)
class Roofline:
    """A GPU whose steps are priced by the roofline; a subclass says which one in `data`.

    `copy` is charged 2 x layers times per block, as in vLLM's `swap_blocks`: one cudaMemcpyAsync
    for K and one for V in each layer, which is why small blocks reach little of the link's
    bandwidth (PagedAttention paper, section 7.3). Its 2 us are an estimate of one launch, not a
    measurement. `c0` is 0 because the measurements hold no sampler, CPU or launch gaps.
    """

    data: ClassVar[Mapping[str, Any]]
    """The GPU's entry in `gpus.toml`, or a mapping with the same keys."""

    peak_flops: float = _from("data", "peak_flops", "dense 16-bit tensor FLOP/s")
    bandwidth: float = _from("data", "bandwidth", "device memory, bytes/s")
    memory: float = _from("data", "memory", "device memory, bytes")
    host_link: float = _from("data", "host_link", "device to host, bytes/s in one direction")
    tile: int = _from("data", "tile", "rows of a matrix tile", positive_int)
    ec: float = _from("fit", "ec", "share of peak_flops that matrix products reach")
    eb: float = _from("fit", "eb", "share of bandwidth that reading weights reaches")
    ek: float = _from("fit", "ek", "share of bandwidth that reading K and V reaches")
    ea: float = _from("fit", "ea", "share of peak_flops that attention over prompts reaches")
    ce: float = _from("fit", "ce", "activation vectors moved per new token and layer")
    cl: float = _from(
        "fit", "cl", "fixed seconds per layer: the kernels' latencies", positive_seconds
    )
    c0: float = _given(0.0, "fixed seconds per step: sampler, CPU, launch gaps")
    copy: float = _given(2e-6, "fixed seconds per copy of a swap, 2 x layers copies per block")
    overlap: bool = attrs.field(
        default=False, metadata={"about": "do swaps run beside the computation?"}
    )
    recompute_chunk: int = _given(2048, "tokens per chunk in costs.recompute", positive_int)

    @property
    def fit(self) -> Mapping[str, Any]:
        """The fitted efficiencies and their `basis`: the GPU's own, or the A100's carried over."""
        carried = "carried over from A100 80 GB, not measured on this GPU"
        return {**GPUS["a100"]["fit"], "basis": carried, **self.data.get("fit", {})}

    def executor(self, model: str | None, *, block_size: int) -> "RooflineExecutor":
        """An executor for `model`. Raises InputError without one, and as `models.load` does."""
        if model is None:
            raise InputError(
                f"{self.data['gpu']} prices steps of a model, and none is given",
                field="model",
                expected=f"one of {', '.join(models.catalogue())}, or a path to a config.json",
            )
        return RooflineExecutor(self, models.load(model), block_size)

    def price(self, shape: models.ModelShape, block_size: int) -> RooflineCosts:
        """The coefficients of `shape` on this GPU.

        Attention is 4 FLOP per pair, head and element: 2 for the scores, 2 for the weighted sum.
        Those of decodes are left out: their time is that of reading the cache.
        """
        math_rate, read_rate = self.ec * self.peak_flops, self.eb * self.bandwidth
        layer_width = shape.layers * shape.hidden * shape.dtype_bytes
        block_bytes = block_size * shape.kv_bytes_per_token
        return RooflineCosts(
            tile=self.tile,
            layer_row=2 * shape.layer_weights / math_rate,
            layer_read=shape.layer_weights * shape.dtype_bytes / read_rate,
            head_row=2 * shape.head_weights / math_rate,
            head_read=shape.head_weights * shape.dtype_bytes / read_rate,
            kv_token=shape.kv_bytes_per_token / (self.ek * self.bandwidth),
            pair=4 * shape.layers * shape.heads * shape.head_dim / (self.ea * self.peak_flops),
            token=self.ce * layer_width / self.bandwidth,
            fixed=self.cl * shape.layers + self.c0,
            block=block_bytes / self.host_link + 2 * shape.layers * self.copy,
            recompute_chunk=self.recompute_chunk,
            overlap=self.overlap,
        )

    def describe(self) -> dict[str, object]:
        """The constants, and how far the fit is from what it was fitted to, as recorded.

        The record is that of the defaults: where one is overridden it says nothing.
        """
        facts, record = self.constants(), self.data.get("fitted_to")
        if record is None or facts["overridden"]:
            return facts
        return {**facts, "fitted_to": record["steps"], "fit_errors": record["errors"]}

    def constants(self) -> dict[str, object]:
        """The constants, where they come from, and which of them are not the defaults."""
        values, defaults = attrs.asdict(self), attrs.asdict(type(self)())
        return {
            "hardware": self.data["gpu"],
            **values,
            "source": self.data["source"],
            "efficiencies": self.fit["basis"],
            "overridden": [key for key, value in values.items() if value != defaults[key]],
        }

    def calibrate(
        self, model: str, loads: Sequence[StepLoad], seconds: Sequence[float]
    ) -> dict[str, float]:
        """The efficiencies that price `loads` closest to the measured `seconds`."""
        from hwmodels.roofline.fit import fit  # scipy loads slowly, and only this needs it

        shape = models.load(model)

        def pricer(constants: dict[str, Any]) -> Callable[[StepLoad], float]:
            return attrs.evolve(self, **constants).price(shape, block_size=16).step

        return fit(pricer, loads, seconds)


class A100(Roofline):
    """NVIDIA A100 SXM, 80 GB."""

    data = GPUS["a100"]


class A100_40GB(Roofline):  # noqa: N801 (the vendor's name)
    """NVIDIA A100 SXM, 40 GB."""

    data = GPUS["a100-40gb"]


class H100(Roofline):
    """NVIDIA H100 SXM, 80 GB."""

    data = GPUS["h100"]


class H200(Roofline):
    """NVIDIA H200 SXM, 141 GB."""

    data = GPUS["h200"]


class A10G(Roofline):
    """NVIDIA A10G, 24 GB."""

    data = GPUS["a10g"]


class L4(Roofline):
    """NVIDIA L4, 24 GB."""

    data = GPUS["l4"]


class L40S(Roofline):
    """NVIDIA L40S, 48 GB."""

    data = GPUS["l40s"]


class RTX4090(Roofline):
    """NVIDIA GeForce RTX 4090, 24 GB."""

    data = GPUS["rtx-4090"]


@attrs.frozen
class RooflineExecutor:
    """Prices the steps of one model on one GPU."""

    modelled: ClassVar[bool] = True
    gpu: Roofline
    shape: models.ModelShape
    block_size: int
    costs: RooflineCosts = attrs.field(init=False)

    @costs.default
    def _price(self) -> RooflineCosts:
        return self.gpu.price(self.shape, self.block_size)

    def execute(self, plan: StepPlan) -> StepOutcome:
        """The step's time, its copies included."""
        return StepOutcome(self.costs.step(plan.load))

    def capacity(
        self, *, block_size: int, gpu_memory_utilization: float, max_num_batched_tokens: int
    ) -> Capacity:
        """KV blocks that fit beside the weights and the largest step's activations.

        Not counted: the CUDA context, captured graphs, logits, fragmentation. Raises InputError
        with the sums when not one block fits.
        """
        usable = self.gpu.memory * gpu_memory_utilization
        weights = self.shape.weight_bytes
        activations = self.shape.activation_bytes(max_num_batched_tokens)
        block_bytes = block_size * self.shape.kv_bytes_per_token
        blocks = math.floor((usable - weights - activations) / block_bytes)
        if blocks < 1:
            raise InputError(
                f"{self.shape.name} does not fit one {self.gpu.data['gpu']}: weights "
                f"{weights / 1e9:.1f} GB + activations {activations / 1e9:.1f} GB + one KV block "
                f"{block_bytes / 1e9:.3f} GB, of {gpu_memory_utilization:g} x "
                f"{self.gpu.memory / 1e9:.1f} GB = {usable / 1e9:.1f} GB",
                expected="a smaller model, more memory or a smaller max_num_batched_tokens",
            )
        return Capacity(blocks, self.shape.max_positions, block_bytes)

    def describe(self) -> dict[str, object]:
        """Model and GPU."""
        return {"model": self.shape.name, "model_source": self.shape.source, **self.gpu.constants()}
