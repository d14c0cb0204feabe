"""Shapes of models: against published parameter counts, and read from config.json."""

import json
from pathlib import Path
from typing import Any

import pytest

from hwmodels.shapes import ModelShape, catalogue, load
from sched_core import InputError, UnknownName

PUBLISHED = {
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3-8b": 8_030_261_248,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "mistral-7b": 7_248_023_552,
    "qwen2.5-7b": 7_615_616_512,
    "opt-13b": 12_853_473_280,
}
"""Parameters, norms, biases and positions included, as the hub counts them."""

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def test_the_counts_are_those_published() -> None:
    models = catalogue()
    assert set(models) == set(PUBLISHED)
    for name, parameters in PUBLISHED.items():
        assert models[name].parameters == pytest.approx(parameters, rel=2e-3)


def test_kv_bytes_follow_the_kv_heads() -> None:
    assert load("llama-3.1-8b").kv_bytes_per_token == 131_072
    assert load("llama-2-7b").kv_bytes_per_token == 524_288


def test_names_of_any_case_and_hub_ids_are_known() -> None:
    plain = load("llama-3-8b")
    for name in ("Llama-3-8B", "Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B"):
        assert load(name) == plain


def test_an_unknown_name_says_which_was_meant() -> None:
    with pytest.raises(UnknownName, match=r"'llama-3-8'; did you mean 'llama-3-8b'"):
        load("llama-3-8")


def test_a_config_gives_the_shape_of_the_table(config: Path) -> None:
    config.write_text(json.dumps(LLAMA))
    table = load("llama-3-8b")
    for path in (config, config.parent):
        shape = load(str(path))
        assert shape.parameters == table.parameters
        assert shape.kv_bytes_per_token == table.kv_bytes_per_token
        assert shape.max_positions == 8192


def test_silence_in_a_config_means_what_the_family_means_by_it(config: Path) -> None:
    config.write_text(
        json.dumps({
            "model_type": "opt", "num_hidden_layers": 40, "hidden_size": 5120,
            "num_attention_heads": 40, "ffn_dim": 20480, "vocab_size": 50272,
            "max_position_embeddings": 2048,
        })
    )  # fmt: skip
    shape = load(str(config))
    assert (shape.gated, shape.tied, shape.kv_heads, shape.head_dim) == (False, True, 40, 128)
    assert shape.parameters == load("opt-13b").parameters


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden_size": None}, ["hidden_size", "missing"]),
        ({"hidden_size": -4096}, ["hidden_size", "-4096", "from 1 to 2147483647"]),
        ({"num_hidden_layers": 3.5}, ["num_hidden_layers", "3.5", "integer"]),
        ({"vocab_size": "many"}, ["vocab_size", "'many'", "integer"]),
        ({"num_key_value_heads": True}, ["num_key_value_heads", "True", "integer"]),
        ({"model_type": "mamba"}, ["model_type", "'mamba'", "llama, mistral"]),
        ({"model_type": None}, ["model_type", "missing"]),
        ({"torch_dtype": "int8"}, ["torch_dtype", "'int8'", "bfloat16"]),
        ({"quantization_config": {"bits": 4}}, ["quantization_config", "unquantised"]),
        ({"tie_word_embeddings": "no"}, ["tie_word_embeddings", "'no'", "true or false"]),
        ({"num_key_value_heads": 5}, ["num_key_value_heads", "5", "divides"]),
    ],
)
def test_a_bad_config_names_file_field_value_and_cure(
    config: Path, change: dict[str, Any], words: list[str]
) -> None:
    config.write_text(json.dumps(LLAMA | change))
    with pytest.raises(InputError) as caught:
        load(str(config))
    for word in [str(config), *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[1]", "\udcff"])
def test_what_is_no_config_is_refused(config: Path, text: str) -> None:
    config.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"config\.json"):
        load(str(config))


def test_a_missing_config_is_refused(config: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(str(config))
    with pytest.raises(InputError, match="cannot be read"):
        load(str(config.parent))


def test_a_shape_refuses_senseless_sizes() -> None:
    with pytest.raises(InputError, match="layers"):
        ModelShape(
            name="none", layers=0, hidden=1, heads=1, kv_heads=1, head_dim=1, intermediate=1,
            vocab=1, max_positions=1,
        )  # fmt: skip
