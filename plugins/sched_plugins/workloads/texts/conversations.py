"""Conversations as requests: the first turn of each is the prompt, the answer to it the output.

So does vLLM's benchmark with ShareGPT. Later turns wait for the answer before, and are left out.
Such files hold no lengths and no arrivals: tokens are counted by a tokenizer, or characters over a
ratio that the setting states, and arrivals are drawn as a Poisson process.
"""

from collections.abc import Iterable, Iterator
from typing import ClassVar

import attrs
from attrs.validators import optional

from sched_core import InputError, files, limits
from sched_core.tables import Record, Row
from sched_plugins.workloads.synthetic.arrivals import arrival_times, unit_gaps
from sched_plugins.workloads.synthetic.streams import stream
from sched_plugins.workloads.texts.tokens import Count, by_ratio, by_tokenizer
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace

CHARS_PER_TOKEN = 4.0
"""A rule of thumb for English; other languages and code have fewer characters a token."""

_USERS = ("human", "user")


@attrs.frozen(kw_only=True)
class Conversations(Trace):
    """What both ways of writing share."""

    column: ClassVar[str]
    speaker: ClassVar[str]
    words: ClassVar[str]

    request_rate: float | None = attrs.field(
        default=None, validator=optional(limits.Numbers(1e-6, 1e9))
    )
    """Requests a second, in file order: must be given, since the file holds no arrivals."""
    tokenizer: str | None = attrs.field(
        default=None, validator=optional(limits.text), metadata={"file": True}
    )
    """Directory of the model whose tokenizer counts; without it `chars_per_token` does."""
    chars_per_token: float = attrs.field(
        default=CHARS_PER_TOKEN, validator=limits.Numbers(0.1, 100, "characters")
    )

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        count = self._count(reading)
        return (self._record(row, count) for row in rows)

    def _count(self, reading: Reading) -> Count:
        reading.notes["turns"] = "the first of each conversation"
        if self.tokenizer is not None:
            return by_tokenizer(self.tokenizer)
        reading.notes["tokens"] = f"characters / {self.chars_per_token:g}, not counted"
        return by_ratio(self.chars_per_token)

    def _record(self, row: Row, count: Count) -> Record | Drop:
        turns = list(row.parts(self.column))[:2]
        if len(turns) < 2:
            return Drop("no answer")
        question, answer = turns
        if question.text(self.speaker) not in _USERS:
            return Drop("not begun by the user")
        if not question.has(self.words) or not answer.has(self.words):
            return Drop("an empty turn")
        prompt, output = question.text(self.words), answer.text(self.words)
        return Record(0, count(prompt), count(output))

    def respaced(self, records: list[Record], seed: int) -> list[Record]:
        """The requests in file order, at a mean rate."""
        if self.request_rate is None:
            raise InputError(
                "it holds no arrivals",
                file=files.called(self.path),
                field="request_rate",
                expected=f"requests a second: {self.format}:path=FILE:request_rate=5",
            )
        gaps = unit_gaps(stream(seed, "gaps"), len(records), burstiness=1.0)
        times = arrival_times(gaps, self.request_rate).tolist()
        return [
            record._replace(arrival_ns=round(time * limits.NANOSECONDS))
            for record, time in zip(records, times, strict=True)
        ]


@attrs.frozen(kw_only=True)
class ShareGPT(Conversations):
    """Conversations as ShareGPT writes them (JSON): first turns, at a rate that you give."""

    format = "sharegpt"
    published = "https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered"
    column, speaker, words = "conversations", "from", "value"


@attrs.frozen(kw_only=True)
class Lmsys(Conversations):
    """LMSYS-Chat-1M and WildChat (JSON or Parquet): first turns, at a rate that you give."""

    format = "lmsys"
    published = "https://huggingface.co/datasets lmsys/lmsys-chat-1m and allenai/WildChat-1M"
    column, speaker, words = "conversation", "role", "content"
