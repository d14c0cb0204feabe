"""Prompts from a file of texts, by the tokenizer that came with a model."""

import json
from pathlib import Path
from typing import Any

import attrs

from hwmodels.torch_executor.loaded import LoadedModel
from hwmodels.torch_executor.prompts import Prompted
from sched_core import InputError


@attrs.frozen
class TextPrompts:
    """Token ids by request id."""

    path: Path
    tokens: dict[str, list[int]]

    @classmethod
    def read(cls, path: Path, loaded: LoadedModel) -> "TextPrompts":
        """Rows of `{"id": ..., "prompt": text}`; raises InputError naming line and field."""
        tokenizer = _tokenizer(loaded)
        tokens: dict[str, list[int]] = {}
        for row, text in _rows(path):
            tokens[row] = tokenizer(text)["input_ids"]
        return cls(path, tokens)

    def __call__(self, request: Prompted) -> list[int]:
        found = self.tokens.get(request.id)
        if found is None or len(found) != request.prompt_len:
            raise InputError(
                f"{'no text' if found is None else f'a text of {len(found)} tokens'} for request "
                f"{request.id!r} of {request.prompt_len} prompt tokens",
                file=self.path,
                expected="a workload whose lengths are those of the texts: texts:path=FILE",
            )
        return list(found)


def _tokenizer(loaded: LoadedModel) -> Any:
    from transformers import AutoTokenizer

    if not Path(loaded.source).is_dir():
        raise InputError(
            f"model {loaded.name!r} has no tokenizer",
            field="prompts",
            expected="a model's directory, with its tokenizer",
        )
    return AutoTokenizer.from_pretrained(loaded.source, local_files_only=True)


def _rows(path: Path) -> Any:
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            yield str(row["id"]), str(row["prompt"])
        except (ValueError, KeyError, TypeError):
            expected = '{"id": ..., "prompt": ...}'
            raise InputError(
                "not a text", file=path, row=number, value=line, expected=expected
            ) from None
