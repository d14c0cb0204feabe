"""AIBrix's workload files: JSON lines, each a stamp in ms and the requests sent at it."""

from collections.abc import Iterable, Iterator

import attrs

from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace

_SPELLINGS = (("prompt_length", "output_length"), ("Prompt Length", "Output Length"))
"""Of the lengths: as the generator writes them now, and as in AIBrix's autoscaling scenarios."""


@attrs.frozen(kw_only=True)
class AIBrix(Trace):
    """AIBrix's workload files (JSON lines): ms, several requests a line."""

    format = "aibrix"
    published = "https://github.com/vllm-project/aibrix, benchmarks/generator makes them"

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        sessions: set[str] = set()
        for row in rows:
            arrival = row.moment("timestamp", "ms").ns
            for part in row.parts("requests"):
                _refuse_turn(part, sessions)
                prompt, output = _spelling(part)
                if part.has(output):
                    yield Record(arrival, part.tokens(prompt), part.tokens(output))
                else:
                    yield Drop("no output length")


def _spelling(part: Row) -> tuple[str, str]:
    return next((names for names in _SPELLINGS if names[0] in part.values), _SPELLINGS[0])


def _refuse_turn(part: Row, sessions: set[str]) -> None:
    """A second turn has no arrival of its own: AIBrix's client waits for the answer before."""
    if not part.has("session_id"):
        return
    name = part.text("session_id")
    if name in sessions:
        problem = "a later turn, which waits for the answer before it"
        raise part.error("session_id", "one request of each session", problem)
    sessions.add(name)
