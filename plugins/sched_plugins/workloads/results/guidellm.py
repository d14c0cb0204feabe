"""GuideLLM's reports (`benchmarks.json`): each benchmark holds its requests by how they ended."""

from collections.abc import Iterable, Iterator

import attrs
from attrs.validators import optional

from sched_core import InputError, limits
from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace

_DROPPED = {"incomplete": "incomplete", "errored": "failed"}


@attrs.frozen(kw_only=True)
class GuideLLM(Trace):
    """GuideLLM's reports (JSON): the requests of one benchmark, those that succeeded."""

    format = "guidellm"
    published = "https://github.com/vllm-project/guidellm, benchmarks.json"

    benchmark: int | None = attrs.field(default=None, validator=optional(limits.TOKENS))
    """Which one, from 0, where a report holds several."""

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        for row in rows:
            requests = self._chosen(row).part("requests")
            for part in requests.parts("successful"):
                yield Record(
                    part.nanoseconds("request_start_time"),
                    part.tokens("prompt_tokens"),
                    part.tokens("output_tokens"),
                )
            for status, reason in _DROPPED.items():
                if requests.has(status):
                    yield from (Drop(reason) for _ in requests.parts(status))
            reading.notes["arrivals"] = "as sent by the client"

    def _chosen(self, row: Row) -> Row:
        found = list(row.parts("benchmarks"))
        index = self.benchmark
        if index is None and len(found) == 1:
            index = 0
        if index is None or index >= len(found):
            raise InputError(
                f"{len(found)} benchmarks",
                file=row.file,
                field="benchmark",
                value=index,
                expected=f"one of them, from 0 to {len(found) - 1}: benchmark=0",
            )
        return found[index]
