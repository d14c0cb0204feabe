"""Prompt tokens of a synthetic workload: the same in any process, equal where prefixes are."""

import hashlib
from collections.abc import Iterator
from typing import Protocol

import attrs
import numpy as np

from sched_core import HashedPrefix, SharedPrefix


class Prompted(Protocol):
    """What a prompt follows from."""

    @property
    def id(self) -> str: ...
    @property
    def prompt_len(self) -> int: ...
    @property
    def prefix(self) -> SharedPrefix | HashedPrefix | None: ...


class Prompts(Protocol):
    """Where an executor gets a request's prompt from."""

    def __call__(self, request: Prompted) -> list[int]:
        """`prompt_len` token ids."""


@attrs.frozen
class SyntheticPrompts:
    """Random tokens from (seed, request); those of a shared prefix from (seed, what is shared)."""

    seed: int
    vocab: int

    def __call__(self, request: Prompted) -> list[int]:
        shared = list(self._shared(request))[: request.prompt_len]
        return shared + self._tokens(request.prompt_len - len(shared), "request", request.id)

    def _shared(self, request: Prompted) -> Iterator[int]:
        prefix = request.prefix
        if isinstance(prefix, SharedPrefix):
            yield from self._tokens(min(prefix.len, request.prompt_len), "group", prefix.group)
        elif prefix is not None:
            for block in prefix.ids:
                yield from self._tokens(prefix.block_size, "block", block)

    def _tokens(self, count: int, kind: str, name: int | str) -> list[int]:
        """The first `count` tokens of the stream called so: fewer are a prefix of more."""
        text = f"{self.seed} {kind} {name!r}".encode()
        key = int.from_bytes(hashlib.blake2b(text, digest_size=16).digest())
        stream = np.random.Generator(np.random.Philox(key=key)).random(count)
        tokens: list[int] = (stream * self.vocab).astype(np.int64).tolist()
        return tokens
