"""Models: built from a configuration with seeded weights, or loaded from a local directory."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from hwmodels.torch_executor.attention import NAME
from hwmodels.torch_executor.gate import check_config, layer_shapes
from hwmodels.torch_executor.pool import LayerShape
from sched_core import InputError, UnknownName

DTYPES = ("float64", "float32", "bfloat16", "float16")


@attrs.frozen(eq=False)
class LoadedModel:
    """A model that passed the gate, and what the executor needs to know of it."""

    name: str
    model: Any
    layers: tuple[LayerShape, ...]
    dtype: torch.dtype
    device: torch.device
    source: str

    @property
    def vocab(self) -> int:
        return int(self.model.config.get_text_config().vocab_size)

    @property
    def max_positions(self) -> int | None:
        """Longest context in tokens, where the configuration says it."""
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return None if limit is None else int(limit)


def built_in() -> dict[str, dict[str, Any]]:
    """The models of `models.toml`, by name."""
    text = files("hwmodels.torch_executor").joinpath("models.toml").read_text("utf-8")
    return tomllib.loads(text)


def load(name: str, *, dtype: str, device: torch.device, seed: int) -> LoadedModel:
    """The built-in model called so, or the one in the directory `name`.

    `dtype` is one of `DTYPES`, or `auto`: the checkpoint's own; float32 for built-in models.
    Raises UnknownName, or InputError with the reason why the model cannot be run exactly.
    """
    known = built_in()
    if name in known:
        model, source = _build(known[name], dtype, seed), "seeded random weights"
    elif Path(name).is_dir():
        model, source = _read(Path(name), dtype), str(Path(name))
    else:
        raise UnknownName("model", name, known, where="the torch executor")
    model = model.eval().requires_grad_(False).to(device)
    return LoadedModel(
        name if name in known else Path(name).resolve().name,
        model,
        layer_shapes(model, name),
        model.dtype,
        device,
        source,
    )


def _build(keys: dict[str, Any], dtype: str, seed: int) -> Any:
    keys = dict(keys)
    config = AutoConfig.for_model(keys.pop("model_type"), **keys)
    return from_config(config, torch.float32 if dtype == "auto" else getattr(torch, dtype), seed)


def from_config(config: Any, dtype: torch.dtype, seed: int) -> Any:
    """A model with seeded random weights; the same seed gives the same weights."""
    check_config(config, config.model_type)
    config._experts_implementation = "eager"  # the default kernel refuses float64
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation=NAME)


def _read(folder: Path, dtype: str) -> Any:
    for pattern in ("config.json", "*.safetensors"):
        if not any(folder.glob(pattern)):
            raise InputError(
                f"the directory holds no {pattern}",
                file=folder,
                expected="a Hugging Face model: config.json and safetensors",
            )
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    check_config(config, str(folder))
    return AutoModelForCausalLM.from_pretrained(
        folder,
        config=config,
        dtype=dtype,
        attn_implementation=NAME,
        local_files_only=True,
    )
