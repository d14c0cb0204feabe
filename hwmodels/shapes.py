"""The shapes of language models: what their matrices and caches weigh, and where to read them."""

from pathlib import Path
from typing import Any, NamedTuple, cast

import attrs

from sched_core import InputError, UnknownName, files, limits


@attrs.frozen(kw_only=True)
class ModelShape:
    """A dense decoder-only transformer, in the numbers that decide its speed and memory.

    Norms, biases and learned positions are left out: less than 0.2 % of the parameters.
    """

    name: str
    layers: int = attrs.field(validator=limits.COUNTS)
    hidden: int = attrs.field(validator=limits.COUNTS)
    heads: int = attrs.field(validator=limits.COUNTS)
    kv_heads: int = attrs.field(validator=limits.COUNTS)
    head_dim: int = attrs.field(validator=limits.COUNTS)
    intermediate: int = attrs.field(validator=limits.COUNTS)
    """Width of the MLP."""
    vocab: int = attrs.field(validator=limits.COUNTS)
    max_positions: int = attrs.field(validator=limits.COUNTS)
    """Longest context in tokens."""
    gated: bool = True
    """Has the MLP a gate beside its up projection (SwiGLU)?"""
    tied: bool = False
    """Is the output head the embedding table?"""
    dtype_bytes: int = attrs.field(default=2, validator=limits.COUNTS)
    """Bytes of one weight, activation or cache element."""
    source: str = ""

    @property
    def layer_weights(self) -> int:
        """Parameters of all layers' matrices: every new token meets each of them once."""
        attention = 2 * (self.heads + self.kv_heads) * self.head_dim
        mlp = (3 if self.gated else 2) * self.intermediate
        return self.layers * self.hidden * (attention + mlp)

    @property
    def head_weights(self) -> int:
        """Parameters of the output head: every sampled token meets each of them once."""
        return self.vocab * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters: layers, output head, and the embedding table where it is another."""
        return self.layer_weights + self.head_weights * (1 if self.tied else 2)

    @property
    def weight_bytes(self) -> int:
        return self.parameters * self.dtype_bytes

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of K and V of one token, over all layers."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.dtype_bytes

    def activation_bytes(self, tokens: int) -> int:
        """Most bytes of activations alive at once when a step computes `tokens` tokens.

        Counted by hand along vLLM's decoder layer: the residual and the layer's input, and then
        either Q, K, V and the attention's output, or the MLP's input and output of its activation.
        """
        attention = 2 * (self.heads + self.kv_heads) * self.head_dim
        mlp = (3 if self.gated else 2) * self.intermediate
        return tokens * self.dtype_bytes * (2 * self.hidden + max(attention, mlp))


def load(model: str) -> ModelShape:
    """The model called so in `models.toml` or on the Hugging Face hub, or the one of a config.

    `model` is a name, in any case, or a path to a `config.json` or to a folder holding one.
    Raises UnknownName, or InputError naming file, field and value.
    """
    shape = _named().get(model.lower())
    if shape is not None:
        return shape
    path = Path(model)
    if model and (path.exists() or path.suffix == ".json"):
        return from_config(path / "config.json" if path.is_dir() else path)
    raise UnknownName("model", model, catalogue())


def catalogue() -> dict[str, ModelShape]:
    """The models of `models.toml`, by name."""
    rows = files.read_toml(Path(__file__).with_name("models.toml"))
    return {name: ModelShape(name=name, **row) for name, row in rows.items()}


def _named() -> dict[str, ModelShape]:
    """Every lower-case spelling of a known model -> the model."""
    spellings: dict[str, ModelShape] = {}
    for name, shape in catalogue().items():
        hub_id = shape.source.lower()
        spellings |= dict.fromkeys((name, hub_id, hub_id.rpartition("/")[2]), shape)
    return spellings


class _Family(NamedTuple):
    """How one `model_type` spells its shape, and what it means by silence."""

    intermediate: str = "intermediate_size"
    gated: bool = True
    tied: bool = False


_FAMILIES = {
    "llama": _Family(),
    "mistral": _Family(),
    "qwen2": _Family(),
    "qwen3": _Family(),
    "opt": _Family("ffn_dim", gated=False, tied=True),
}
_DTYPES = ("bfloat16", "float16", "float32")


def from_config(path: Path) -> ModelShape:
    """The shape in a Hugging Face `config.json`.

    As in vLLM, float32 checkpoints run in 16 bits. Quantised models and mixtures of experts are
    refused: the roofline does not price them. A sliding window is priced as full attention.
    Raises InputError naming file, field and value.
    """
    config = _read_json(path)
    family = _family(config, path)
    _refuse_unpriced(config, path)
    heads = _size(config, "num_attention_heads", path)
    hidden = _size(config, "hidden_size", path)
    return ModelShape(
        name=path.resolve().parent.name,
        layers=_size(config, "num_hidden_layers", path),
        hidden=hidden,
        heads=heads,
        kv_heads=_kv_heads(config, heads, path),
        head_dim=_size(config, "head_dim", path, default=hidden // heads),
        intermediate=_size(config, family.intermediate, path),
        vocab=_size(config, "vocab_size", path),
        max_positions=_size(config, "max_position_embeddings", path),
        gated=family.gated,
        tied=_tied(config, family, path),
        source=str(path),
    )


def _read_json(path: Path) -> dict[str, Any]:
    config = files.read_json(path)
    if not isinstance(config, dict):
        raise InputError("is not a model configuration", file=path, expected="a JSON object")
    return config


def _family(config: dict[str, Any], path: Path) -> _Family:
    kind = config.get("model_type")
    if kind not in _FAMILIES:
        raise InputError(
            "this kind of model is not known" if kind else "missing",
            file=path,
            field="model_type",
            value=kind,
            expected=f"one of {', '.join(_FAMILIES)}",
        )
    return _FAMILIES[kind]


def _size(config: dict[str, Any], field: str, path: Path, *, default: int | None = None) -> int:
    value = config.get(field)
    if value is None and default is not None:
        return default
    limits.COUNTS.require(value, field, file=path)
    return cast("int", value)


def _kv_heads(config: dict[str, Any], heads: int, path: Path) -> int:
    field = "num_key_value_heads"
    kv_heads = _size(config, field, path, default=heads)
    if heads % kv_heads:
        raise InputError(
            "does not go into the heads evenly",
            file=path,
            field=field,
            value=kv_heads,
            expected=f"a number that divides num_attention_heads = {heads}",
        )
    return kv_heads


def _tied(config: dict[str, Any], family: _Family, path: Path) -> bool:
    field = "tie_word_embeddings"
    tied = config.get(field, family.tied)
    if not isinstance(tied, bool):
        raise InputError(
            "not a truth value", file=path, field=field, value=tied, expected="true or false"
        )
    return tied


def _refuse_unpriced(config: dict[str, Any], path: Path) -> None:
    dtype = config.get("dtype") or config.get("torch_dtype") or "bfloat16"
    if dtype not in _DTYPES:
        raise InputError(
            "this number format is not priced",
            file=path,
            field="torch_dtype",
            value=dtype,
            expected=f"one of {', '.join(_DTYPES)}",
        )
    if config.get("quantization_config"):
        raise InputError(
            "quantised weights are not priced",
            file=path,
            field="quantization_config",
            expected="an unquantised model",
        )
