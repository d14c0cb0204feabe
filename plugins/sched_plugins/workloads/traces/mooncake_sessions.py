"""Conversations in rows like Mooncake's, as Dynamo and AIPerf have them.

The first row of a session says when it begins (`timestamp`), each later one how long after the
answer before it is sent (`delay`), both in milliseconds; a later row may have a `timestamp` before
which it is not sent.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import attrs

from sched_core import limits
from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.mooncake import Mooncake
from sched_plugins.workloads.traces.trace import Drop, Reading


class _Session(NamedTuple):
    """How far a session has got in the file."""

    start_ns: int
    turns: int
    context: int
    """Tokens of all that was asked and answered."""


@attrs.frozen(kw_only=True)
class MooncakeSessions(Mooncake):
    """Conversations of Dynamo and AIPerf (JSON lines): ms, a turn after the answer before.

    `time_scale` moves the beginnings of sessions; users think as long as before.
    """

    format = "mooncake-sessions"
    published = "Dynamo's benchmarks; AIPerf, --custom-dataset-type mooncake_trace"

    input_length: Literal["whole", "added"] | None = None
    """What `input_length` counts: the whole prompt (Dynamo), or what a turn adds to all that was
    said before (AIPerf). Rows with `hash_ids` are whole prompts; for others it must be given."""

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        sessions: dict[str, _Session] = {}
        for row in rows:
            name = row.text("session_id") if row.has("session_id") else None
            before = None if name is None else sessions.get(name)
            prompt_len = self._prompt_len(row, before)
            output_len = row.tokens("output_length")
            arrival_ns = self._arrival_ns(row, before)
            more: dict[str, Any] = {}
            if name is not None:
                turn = 0 if before is None else before.turns
                start_ns = arrival_ns if before is None else before.start_ns
                sessions[name] = _Session(start_ns, turn + 1, prompt_len + output_len)
                more = {"session": name, "turn": turn}
            if before is not None:
                more["think_time"] = self._think_time(row)
            yield Record(
                arrival_ns, prompt_len, output_len, self._prefix(row, prompt_len), more=more
            )

    def _prompt_len(self, row: Row, before: _Session | None) -> int:
        given = row.tokens("input_length")
        if self.input_length is None and before is not None and not row.has("hash_ids"):
            raise row.error(
                "input_length",
                "input_length=whole, if it counts the whole prompt, or input_length=added, if "
                "it counts what the turn adds",
                "may be one thing or the other",
            )
        added = self.input_length == "added" and before is not None
        return given + before.context if added and before else given

    def _arrival_ns(self, row: Row, before: _Session | None) -> int:
        if before is None or row.has("timestamp"):
            return row.moment("timestamp", "ms").ns
        return before.start_ns

    def _think_time(self, row: Row) -> float:
        if not row.has("delay"):
            return 0.0
        return float(row.number("delay", limits.Numbers(0, 1e12, "milliseconds")) / 1000)
