"""Models that cannot be run exactly are refused at load, with the reason; others pass."""

import re
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig

from hwmodels.torch_executor.model import gate, models, self_check
from hwmodels.torch_executor.model.float64_copy import in_float64
from hwmodels.torch_executor.model.models import admitted, from_config, load
from hwmodels.torch_executor.step.attention import Call
from sched_core import InputError, UnknownName

CPU = torch.device("cpu")

SIZE = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.2,
}
FEW = {"vocab_size": 64, "hidden_size": 32}


def rope(kind: str, **more: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 1e4, **more}}


def built(kind: str, keys: dict[str, Any]) -> Any:
    model = from_config(AutoConfig.for_model(kind, **keys), torch.float64, seed=0)
    return admitted(kind, model, CPU, "a test")


LONGROPE = rope("longrope", short_factor=[1.0] * 4, long_factor=[2.0] * 4)

REFUSED = [
    ("llama4_text", {**SIZE, "attention_chunk_size": 8}, "layers of type chunked_attention"),
    ("qwen3_next", {**SIZE, "head_dim": 8}, "layers of type linear_attention"),
    ("minimax", {**SIZE, "head_dim": 8}, "layers of type linear_attention"),
    ("mamba", {**FEW, "num_hidden_layers": 2}, "layers of type linear_attention"),
    ("llama", {**SIZE, **rope("dynamic", factor=2.0)}, "rope_type 'dynamic'"),
    ("phi3", {**SIZE, "pad_token_id": 0, **LONGROPE}, "rope_type 'longrope'"),
    ("t5", {"vocab_size": 64, "d_model": 32}, "is_encoder_decoder = True"),
    ("bloom", {**FEW, "n_layer": 2, "n_head": 4}, "calls attention 0 times"),
    ("diffllama", SIZE, "layers [0, 0, 1, 1, 2, 2, 3, 3]"),
    ("falcon", {**FEW, "num_hidden_layers": 2, "num_attention_heads": 4}, "cannot be built"),
    ("mpt", {"vocab_size": 64, "d_model": 32, "n_layers": 2, "n_heads": 4}, "fails with"),
    ("doge", SIZE, "a mask of its own"),
]


@pytest.mark.parametrize(("kind", "keys", "reason"), REFUSED)
def test_refused_with_the_reason(kind: str, keys: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError) as refusal:
        built(kind, keys)
    assert "cannot run" in str(refusal.value)
    assert reason in str(refusal.value)


PASSING = [
    ("mixtral", {**SIZE, "num_local_experts": 4}),
    ("gpt_oss", {**SIZE, "head_dim": 8, "num_local_experts": 4, "sliding_window": 8}),
    ("gemma3_text", {**SIZE, "head_dim": 8, "sliding_window": 8}),
    ("cohere2", {**SIZE, "sliding_window": 8}),
    ("gpt2", {"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4}),
    ("llama", {**SIZE, **rope("yarn", factor=4.0, original_max_position_embeddings=64)}),
]


@pytest.mark.parametrize(("kind", "keys"), PASSING)
def test_others_pass(kind: str, keys: dict[str, Any]) -> None:
    """Experts, sinks, two kinds of layers, soft-caps, learned positions, scaled rotations."""
    assert len(built(kind, keys).layers) in (2, 4)


def test_a_model_that_passes_a_wrong_window_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    original = gate._probe

    def probe(model: Any, name: str) -> list[Call]:
        return [attrs.evolve(call, window=7) for call in original(model, name)]

    monkeypatch.setattr(gate, "_probe", probe)
    with pytest.raises(InputError, match="layer 0 has a window of None, but its call says 7"):
        built("llama", SIZE)


def test_an_unknown_argument_of_attention_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    original = gate._probe

    def probe(model: Any, name: str) -> list[Call]:
        return [
            attrs.evolve(call, other={**call.other, "relative_bias": 1})
            for call in original(model, name)
        ]

    monkeypatch.setattr(gate, "_probe", probe)
    with pytest.raises(InputError, match="its attention takes relative_bias"):
        built("llama", SIZE)


def test_a_model_whose_numbers_differ_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunked attention is only in transformers' mask: with no rule against it, logits tell."""
    monkeypatch.setattr(models, "check_config", lambda *_: None)
    with pytest.raises(InputError, match="differ from those of a plain pass by"):
        built("llama4_text", {**SIZE, "head_dim": 8, "attention_chunk_size": 8})


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'tiny-llama'"):
        load("tiny-lama", dtype="auto", device=CPU, seed=0)


def test_weights_follow_from_the_seed() -> None:
    one, same, other = (
        load("tiny-llama", dtype="float32", device=CPU, seed=seed).model.lm_head.weight
        for seed in (1, 1, 2)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_directory_is_loaded_with_its_weights(tmp_path: Any) -> None:
    made = load("tiny-qwen3", dtype="float32", device=CPU, seed=3)
    made.model.save_pretrained(tmp_path / "mine")
    found = load(str(tmp_path / "mine"), dtype="auto", device=CPU, seed=0)
    assert (found.name, found.dtype, found.layers) == ("mine", torch.float32, made.layers)
    assert torch.equal(found.model.lm_head.weight, made.model.lm_head.weight)


def test_a_directory_without_weights_says_so(tmp_path: Any) -> None:
    models.load("tiny-llama", dtype="auto", device=CPU, seed=0).model.config.save_pretrained(
        tmp_path
    )
    with pytest.raises(InputError, match=r"holds no \*.safetensors"):
        load(str(tmp_path), dtype="auto", device=CPU, seed=0)


def saved(folder: Path, name: str = "tiny-llama", drop: str = "nothing") -> Path:
    """A directory with a built-in model, but for weights whose names hold `drop`."""
    model = load(name, dtype="auto", device=CPU, seed=0).model
    model.save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    kept = {key: weight for key, weight in weights.items() if drop not in key}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_weights_that_are_missing_are_not_made_up(tmp_path: Path) -> None:
    folder = saved(tmp_path, drop="layers.1.mlp")
    with pytest.raises(InputError, match=r"3 weights are missing.*layers\.1\.mlp\.down_proj"):
        load(str(folder), dtype="auto", device=CPU, seed=0)


def test_a_broken_file_of_weights_is_said_to_be_one(tmp_path: Path) -> None:
    path = saved(tmp_path) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match="cannot be loaded: SafetensorError"):
        load(str(tmp_path), dtype="auto", device=CPU, seed=0)


def test_a_configuration_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path) / "config.json"
    path.write_text(re.sub(r'"hidden_size": \d+', '"hidden_size": 33', path.read_text()))
    with pytest.raises(InputError, match=r"config\.json: cannot be read"):
        load(str(tmp_path), dtype="auto", device=CPU, seed=0)


def test_a_directory_of_experts_runs_in_float64(tmp_path: Path) -> None:
    folder = saved(tmp_path, "tiny-moe")
    assert load(str(folder), dtype="float64", device=CPU, seed=0).dtype is torch.float64


@pytest.mark.parametrize(
    ("kind", "keys", "count"),
    [
        ("llama", SIZE, 2),
        ("gemma3_text", {**SIZE, "num_hidden_layers": 8, "head_dim": 8, "sliding_window": 8}, 6),
        ("smollm3", {**SIZE, "num_hidden_layers": 6, "pad_token_id": 0}, 4),  # the 4th has no rope
        ("gpt2", {"vocab_size": 64, "n_embd": 32, "n_layer": 3, "n_head": 4}, 2),
    ],
)
def test_the_copy_in_float64_has_a_layer_of_every_kind(
    kind: str, keys: dict[str, Any], count: int
) -> None:
    loaded = built(kind, keys)
    copied = in_float64(loaded, whole=False)
    layers = loaded.model.config.get_text_config().num_hidden_layers
    assert len(loaded.layers) == layers > count
    assert len(copied.layers) == copied.model.config.get_text_config().num_hidden_layers == count
    assert len(gate.layer_shapes(loaded.model, "whole again")) == layers
    weights = dict(loaded.model.named_parameters())
    for name, weight in copied.model.named_parameters():
        assert torch.equal(weight, weights[name].double())


@pytest.mark.parametrize("seed", range(4))
def test_rounding_that_chooses_other_experts_is_no_fault(seed: int) -> None:
    config = AutoConfig.for_model("mixtral", **SIZE, num_local_experts=8)
    admitted("mixtral", from_config(config, torch.bfloat16, seed), CPU, "a test")


def test_a_model_that_cannot_be_cut_is_copied_whole() -> None:
    """gemma3n makes embeddings for all its layers at once, as many as its configuration says."""
    config = AutoConfig.for_model(
        "gemma3n_text",
        **SIZE | {"intermediate_size": [64] * 4},
        head_dim=8,
        hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=64,
        laurel_rank=4,
        num_kv_shared_layers=0,
        activation_sparsity_pattern=[0.0] * 4,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention"] * 2,
    )
    loaded = admitted("gemma3n", from_config(config, torch.bfloat16, 0), CPU, "a test")
    with pytest.raises(RuntimeError, match="invalid for input"):
        self_check._relative_error(in_float64(loaded, whole=False))
    assert self_check._relative_error(in_float64(loaded, whole=True)) < 1e-4
