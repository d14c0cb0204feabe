"""How many tokens a text has: counted by a model's tokenizer, or from a stated ratio."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sched_core import InputError

Count = Callable[[str], int]


def by_ratio(chars_per_token: float) -> Count:
    """Characters over `chars_per_token`, rounded; at least 1 for a text that is not empty."""
    return lambda text: max(1, round(len(text) / chars_per_token)) if text else 0


def by_tokenizer(folder: str) -> Count:
    """What the tokenizer in `folder` counts, without special tokens.

    Raises InputError where there is none, or without the library that reads it.
    """
    tokenizer = _tokenizer(folder)
    return lambda text: len(tokenizer(text, add_special_tokens=False)["input_ids"])


def _tokenizer(folder: str) -> Any:
    if not Path(folder).is_dir():
        raise InputError(
            "no such folder", field="tokenizer", value=folder, expected="the directory of a model"
        )
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError:
        raise InputError(
            "counting tokens needs transformers, which is not installed",
            field="tokenizer",
            value=folder,
            expected="pip install 'schedfw[torch]', or chars_per_token in its place",
        ) from None
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise InputError(f"has no tokenizer: {error}", file=folder) from None
