"""Our own trace format, as CSV or JSON lines: the fields of a request, under the same names.

`arrival` (seconds), `prompt_len` and `output_len` (tokens) are required; `id`, `priority`,
`tenant`, `prefix_group` and `prefix_len` may be left out, or empty. A length of 0 is kept: the
engine rejects that request, with the reason, and runs the others.
"""

from collections.abc import Iterator

import attrs

from sched_core import SharedPrefix, limits
from sched_plugins.workloads.traces.rows import Row
from sched_plugins.workloads.traces.trace import Record, Trace


@attrs.frozen(kw_only=True)
class OwnTrace(Trace):
    """What both ways of writing share."""

    def rows(self) -> Iterator[Row]:
        """The file's rows; raises InputError unless each has an id of its own, or none has one."""
        seen: dict[str, int] = {}
        for position, row in enumerate(super().rows()):
            if row.has("id") != bool(seen) and position:
                raise row.error("id", "an id in every row, or in none", "given in some rows only")
            if row.has("id"):
                name = row.text("id")
                if name in seen:
                    raise row.error("id", f"an id of its own: line {seen[name]} has this one")
                seen[name] = row.line
            yield row

    def record(self, row: Row) -> Record:
        prompt_len = row.tokens("prompt_len")
        return Record(
            row.nanoseconds("arrival"),
            prompt_len,
            row.tokens("output_len"),
            row.integer("priority", limits.PRIORITIES) if row.has("priority") else 0,
            row.text("tenant") if row.has("tenant") else "default",
            _prefix(row, prompt_len),
            row.text("id") if row.has("id") else None,
        )


def _prefix(row: Row, prompt_len: int) -> SharedPrefix | None:
    if not row.has("prefix_group") and not row.has("prefix_len"):
        return None
    group, length = row.text("prefix_group"), row.tokens("prefix_len")
    if length > prompt_len:
        raise row.error("prefix_len", f"at most prompt_len = {prompt_len}")
    return SharedPrefix(group, length) if length else None


@attrs.frozen(kw_only=True)
class OwnCsv(OwnTrace):
    """Our own columns: arrival, prompt_len, output_len, and optional ones (CSV)."""

    format = "csv"


@attrs.frozen(kw_only=True)
class OwnJsonl(OwnTrace):
    """Our own columns: arrival, prompt_len, output_len, and optional ones (JSON lines)."""

    format = "jsonl"
