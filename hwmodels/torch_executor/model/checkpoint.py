"""A model from a local directory: config.json and safetensors, and no weight from elsewhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForCausalLM

from hwmodels.torch_executor.model.gate import check_config, use_eager_experts
from hwmodels.torch_executor.step.attention import NAME
from sched_core import InputError


def read(folder: Path, dtype: str) -> Any:
    """The model in `folder`, whose attention is ours. `dtype` as for `models.load`.

    Raises InputError where files are missing or broken, or do not hold all weights: transformers
    would fill the others with random numbers.
    """
    for pattern in ("config.json", "*.safetensors"):
        if not any(folder.glob(pattern)):
            raise InputError(
                f"the directory holds no {pattern}",
                file=folder,
                expected="a Hugging Face model: config.json and safetensors",
            )
    config = _config(folder)
    if dtype == "float64":
        use_eager_experts(config)
    model, report = _loaded(folder, config, dtype)
    _check_whole(folder, report)
    return model


def _config(folder: Path) -> Any:
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # foreign code checks it, in many ways
        raise InputError(f"cannot be read: {error}", file=folder / "config.json") from None
    check_config(config, str(folder))
    return config


def _loaded(folder: Path, config: Any, dtype: str) -> tuple[Any, Mapping[str, Any]]:
    """The model, and what transformers says of its weights."""
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            local_files_only=True,
            attn_implementation=NAME,
            output_loading_info=True,
        )
    except Exception as error:  # foreign code: weights or the model's code, in many ways
        raise InputError(
            f"cannot be loaded: {type(error).__name__}: {error}",
            file=folder,
            expected="whole safetensors of a decoder that lets others compute its attention",
        ) from None
    return model, report


def _check_whole(folder: Path, report: Mapping[str, Any]) -> None:
    lacking = sorted({*map(str, report["missing_keys"]), *map(str, report["mismatched_keys"])})
    if lacking:
        shown = ", ".join(lacking[:3]) + (", ..." if len(lacking) > 3 else "")
        raise InputError(
            f"{len(lacking)} weights are missing, or have another shape: {shown}",
            file=folder,
            expected="safetensors that hold every weight of config.json's model",
        )
