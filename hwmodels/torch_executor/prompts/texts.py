"""Prompts from a file of texts, by a model's own tokenizer.

One JSON object a line: `{"id": "a", "arrival": 0.5, "prompt": "Once upon", "output_len": 20}`. The
workload `texts` makes requests of them, and `torch:prompts=FILE` runs them with those very tokens.
"""

from pathlib import Path
from typing import Any, Self

import attrs

from hwmodels.torch_executor.prompts.prompts import Prompted
from sched_core import InputError, PluginLoadError, RequestSpec, Workload, configure, files, limits


def _no_surrogate(_: object, field: "attrs.Attribute[str]", value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "holds half of a surrogate pair, which is no text", field=field.name, value=value
        ) from error


@attrs.frozen(kw_only=True)
class Text:
    """A line of the file."""

    id: str
    prompt: str = attrs.field(validator=_no_surrogate)
    arrival: float = attrs.field(default=0.0, validator=limits.SECONDS)
    output_len: int = attrs.field(default=16, validator=limits.TOKENS)


@attrs.frozen(kw_only=True)
class Texts:
    """Requests with real prompts, for the torch executor (JSON lines)."""

    path: str = attrs.field(
        metadata={"about": "JSON lines: id, prompt, arrival, output_len", "file": True}
    )
    model: str = attrs.field(
        metadata={"about": "directory of the model, with its tokenizer", "file": True}
    )

    def build(self, seed: int) -> Workload:
        """The file's requests; `seed` changes nothing."""
        tokens, texts = tokenized(self.path, self.model), read(Path(self.path))
        specs = [
            RequestSpec(text.id, text.arrival, len(tokens[text.id]), text.output_len)
            for text in texts
        ]
        return Workload(specs, description={"kind": "texts", "path": self.path})


@attrs.frozen
class TextPrompts:
    """Token ids by request id."""

    path: str
    tokens: dict[str, list[int]]

    @classmethod
    def of(cls, path: str, model: str, vocab: int) -> Self:
        """Those of the file; raises InputError where the model, of `vocab` tokens, lacks one."""
        tokens = tokenized(path, model)
        for name, ids in tokens.items():
            if (highest := max(ids, default=0)) >= vocab:
                raise InputError(
                    f"its tokenizer is that of another model: the text of {name!r} holds a token "
                    "that this one does not know",
                    file=model,
                    value=highest,
                    expected=f"below {vocab}",
                )
        return cls(path, tokens)

    def __call__(self, request: Prompted) -> list[int]:
        """Raises InputError where the request is not one of the file."""
        found = self.tokens.get(request.id)
        if found is None or len(found) != request.prompt_len:
            raise InputError(
                f"request {request.id!r}, {request.prompt_len} tokens, is none of its texts",
                file=self.path,
                expected=f"the workload texts:path={self.path}",
            )
        return list(found)


def tokenized(path: str, model: str) -> dict[str, list[int]]:
    """Request id -> token ids, special tokens as the tokenizer adds them."""
    tokenizer = _tokenizer(model)
    return {text.id: tokenizer(text.prompt)["input_ids"] for text in read(Path(path))}


def _tokenizer(model: str) -> Any:
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError as error:
        raise PluginLoadError(f"texts need {error.name}: pip install 'schedfw[torch]'") from None
    if not Path(model).is_dir():
        raise InputError(
            "has no tokenizer, as no built-in model has",
            field="model",
            value=model,
            expected="a model's directory",
        )
    try:
        return AutoTokenizer.from_pretrained(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"has no tokenizer: {error}", file=model, expected="a model's directory"
        ) from None


def read(path: Path) -> list[Text]:
    """The texts; raises InputError naming file, line and field."""
    lines = files.read_json_lines(path)
    return [configure(Text, keys, where=f"{path}, line {row}") for row, keys in lines]
