"""Models: built from a configuration with seeded weights, or loaded from a local directory."""

import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from hwmodels.torch_executor.model.checkpoint import read
from hwmodels.torch_executor.model.gate import check_config, layer_shapes, refuse, use_eager_experts
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.model.self_check import check_logits
from hwmodels.torch_executor.step.attention import NAME
from sched_core import UnknownName

DTYPES = ("float64", "float32", "bfloat16", "float16")


def built_in() -> dict[str, dict[str, Any]]:
    """The models of `models.toml`, by name."""
    text = files("hwmodels.torch_executor.model").joinpath("models.toml").read_text("utf-8")
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
        model, source = read(Path(name), dtype), str(Path(name))
    else:
        raise UnknownName("model", name, known, where="the torch executor")
    short = name if name in known else Path(name).resolve().name
    return admitted(short, model, device, source)


def admitted(name: str, model: Any, device: torch.device, source: str) -> LoadedModel:
    """The model on its device, if the gate lets it through."""
    model = model.eval().requires_grad_(False).to(device)
    shapes = layer_shapes(model, name)
    loaded = LoadedModel(name, model, shapes, model.dtype, device, source)
    check_logits(loaded)
    return loaded


def _build(keys: dict[str, Any], dtype: str, seed: int) -> Any:
    keys = dict(keys)
    config = AutoConfig.for_model(keys.pop("model_type"), **keys)
    return from_config(config, torch.float32 if dtype == "auto" else getattr(torch, dtype), seed)


def from_config(config: Any, dtype: torch.dtype, seed: int) -> Any:
    """A model with seeded random weights; the same seed gives the same weights."""
    check_config(config, config.model_type)
    use_eager_experts(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _made(config.model_type, AutoModelForCausalLM.from_config, config, dtype=dtype)


def _made(name: str, make: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """A model whose attention is ours; refused where its code does not allow that."""
    try:
        return make(*args, attn_implementation=NAME, **how)
    except Exception as error:  # foreign code: many kinds, all mean that it cannot be run so
        refuse(name, f"it cannot be built: {type(error).__name__}: {error}")
