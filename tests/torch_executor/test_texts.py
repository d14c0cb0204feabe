"""A directory with weights and a tokenizer runs texts, each with its own tokens."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import PreTrainedTokenizerFast

from hwmodels.torch_executor.hardware import Torch
from hwmodels.torch_executor.model.models import load
from hwmodels.torch_executor.prompts.texts import TextPrompts, Texts
from sched_core import Engine, EngineConfig, InputError, Policy, RequestSpec, UsageError, Workload

TEXTS = [
    {"id": "a", "prompt": "the cat sat on the mat", "output_len": 5},
    {"id": "b", "prompt": "a dog", "arrival": 0.25, "output_len": 3},
]
WORDS = ["[UNK]", "the", "cat", "sat", "on", "mat", "a", "dog"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint as one downloads it, but tiny."""
    folder: Path = tmp_path_factory.mktemp("checkpoint")
    load("tiny-llama", dtype="float32", device=torch.device("cpu"), seed=9).model.save_pretrained(
        folder
    )
    words = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, "[UNK]"))
    words.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]").save_pretrained(folder)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(text) + "\n" for text in TEXTS))
    return str(path)


def test_texts_run_with_their_own_tokens(model: Path, file: str) -> None:
    workload = Texts(path=file, model=str(model)).build(seed=0)
    assert [(s.id, s.arrival, s.prompt_len, s.output_len) for s in workload.requests] == [
        ("a", 0.0, 6, 5),
        ("b", 0.25, 2, 3),
    ]
    hardware = Torch(threads=1, prompts=file, dtype="float64", costs="")
    executor = hardware.executor(str(model), block_size=4)
    tokens = executor.runner.tokens  # type: ignore[attr-defined]
    config = EngineConfig(block_size=4, num_gpu_blocks=20)
    Engine(config, Policy.from_spec("fcfs"), executor, workload).run()
    assert tokens["b"][:2] == [6, 7]
    net = executor.runner.loaded.model  # type: ignore[attr-defined]
    net.set_attn_implementation("eager")
    whole = net.generate(
        torch.tensor([[6, 7]]), max_new_tokens=3, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    net.set_attn_implementation("schedfw_paged")
    assert tokens["b"] == whole[0].tolist()


def test_another_workload_is_refused(model: Path, file: str) -> None:
    executor = Torch(threads=1, prompts=file).executor(str(model), block_size=4)
    config = EngineConfig(block_size=4, num_gpu_blocks=20)
    longer = Workload([RequestSpec("a", 0.0, 7, 5)])
    with pytest.raises(InputError, match="is none of its texts"):
        Engine(config, Policy.from_spec("fcfs"), executor, longer).run()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 1: is not JSON"),
        ("[]", "line 1: is no JSON object"),
        ('\n{"id": "a", "prompt": "\\ud800"}', "line 2: field 'prompt': holds half of a surrogate"),
        ('{"id": "a"}', "line 1: parameter 'prompt' is missing"),
        ('{"id": "a", "prompt": "x", "arrival": -1}', "line 1: field 'arrival': out of range"),
        ('{"id": "a", "prompt": "x", "output": 3}', "did you mean 'output_len'"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(
    model: Path, tmp_path: Path, line: str, problem: str
) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(line)
    with pytest.raises(UsageError) as error:
        Texts(path=str(path), model=str(model)).build(seed=0)
    assert str(path) in str(error.value)
    assert problem in str(error.value)


def test_separators_of_unicode_end_no_line(model: Path, tmp_path: Path) -> None:
    """They may stand in JSON as they are; CRLF and a byte-order mark come from elsewhere."""
    path = tmp_path / "texts.jsonl"
    path.write_bytes('\ufeff{"id": "a\u2028b", "prompt": "the\x85cat"}\r\n\r\n'.encode())
    workload = Texts(path=str(path), model=str(model)).build(seed=0)
    assert [(spec.id, spec.prompt_len) for spec in workload.requests] == [("a\u2028b", 2)]


def test_what_is_not_utf8_is_refused(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"texts\.jsonl: is not UTF-8 text"):
        Texts(path=str(path), model=str(model)).build(seed=0)


def test_the_tokenizer_of_another_model_is_refused(model: Path, file: str) -> None:
    with pytest.raises(InputError, match=r"of another model.*'a'.*found 5.*below 5"):
        TextPrompts.of(file, str(model), vocab=5)


def test_built_in_models_have_no_tokenizer(file: str) -> None:
    with pytest.raises(InputError, match="'tiny-llama'") as error:
        Torch(threads=1, prompts=file).executor("tiny-llama", block_size=4)
    assert "has no tokenizer, as no built-in model has" in str(error.value)


def test_any_id_can_be_drawn_for(model: Path, file: str) -> None:
    """JSON can name half of a surrogate pair, which has no UTF-8."""
    executor = Torch(threads=1, temperature=0.7).executor(str(model), block_size=4)
    config = EngineConfig(block_size=4, num_gpu_blocks=20)
    lone = Workload([RequestSpec("\ud800", 0.0, 7, 5)])
    Engine(config, Policy.from_spec("fcfs"), executor, lone).run()
    assert len(executor.runner.tokens["\ud800"]) == 12  # type: ignore[attr-defined]
