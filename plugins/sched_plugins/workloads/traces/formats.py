"""The formats of requests that we read, and how to tell them apart.

A format is told by its column names alone, never by the file's name or by position.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sched_core import InputError, UnknownName
from sched_core.tables import Kind, Layout
from sched_plugins.workloads.traces.foreign import oddity


class Format(NamedTuple):
    """A format that can be read."""

    name: str
    kinds: tuple[Kind, ...]
    required: tuple[str, ...]
    optional: tuple[str, ...] | None = None
    """Further columns that may be there; None is any."""
    without: tuple[str, ...] = ()
    """Columns of another format that is told by them."""


_OWN = ("arrival", "prompt_len", "output_len")
_JSON: tuple[Kind, ...] = ("jsonl", "json")

FORMATS = {
    form.name: form
    for form in (
        Format("azure", ("csv",), ("TIMESTAMP", "ContextTokens", "GeneratedTokens")),
        Format("burstgpt", ("csv",), ("Timestamp", "Request tokens", "Response tokens")),
        Format(
            "mooncake",
            ("jsonl",),
            ("timestamp", "input_length", "output_length"),
            ("hash_ids",),
            without=("session_id", "delay"),
        ),
        Format(
            "mooncake-sessions",
            ("jsonl",),
            ("session_id", "input_length", "output_length"),
            ("timestamp", "delay", "hash_ids"),
        ),
        Format("vidur", ("csv",), ("arrived_at", "num_prefill_tokens", "num_decode_tokens")),
        Format("aibrix", ("jsonl",), ("timestamp", "requests")),
        Format("llmservingsim", ("jsonl",), ("arrival_time_ns", "input_toks", "output_toks")),
        Format("vllm-bench", _JSON, ("start_times", "input_lens", "output_lens")),
        Format("guidellm", _JSON, ("benchmarks",)),
        Format("aiperf", ("jsonl",), ("metadata", "metrics")),
        Format("sharegpt", (*_JSON, "table"), ("conversations",)),
        Format("lmsys", (*_JSON, "table"), ("conversation",)),
        Format("csv", ("csv",), _OWN),
        Format("jsonl", _JSON, _OWN),
        Format("parquet", ("table",), _OWN),
    )
}

_KINDS: dict[Kind, str] = {
    "csv": "a CSV header with",
    "jsonl": "one JSON object a line with",
    "json": "a JSON object with",
    "table": "a Parquet file with",
}

_SEPARATORS = {";": ";", "\t": "tab", "|": "|"}


def identify(layout: Layout) -> str:
    """The name of the one format whose columns are all there; raises InputError otherwise."""
    odd = oddity(layout)
    fitting = [] if odd else _fitting(layout)
    if len(fitting) != 1:
        raise InputError(
            f"no format that can be told for sure{_hint(layout)}",
            file=layout.file,
            row=layout.line,
            value=_listed(layout.columns),
            expected=_candidates(fitting, layout, brief=bool(odd or _separated(layout))),
        )
    return fitting[0]


def _candidates(fitting: list[str], layout: Layout, *, brief: bool) -> str:
    """The formats that it could be, or, `brief`, where all are told."""
    if brief:
        return "one of the formats that `schedfw workloads list` tells"
    names = fitting or [form.name for form in FORMATS.values() if layout.kind in form.kinds]
    own = f"{names[-1]}:path=FILE:arrival=COLUMN:prompt_len=COLUMN:output_len=COLUMN"
    listed = [f"{name}: {_listed(FORMATS[name].required)}" for name in names]
    return "; or ".join(listed if fitting else [*listed, own])


def demand(form: Format, layout: Layout) -> None:
    """Raises InputError or UnknownName unless the file has the columns of `form`."""
    missing = [column for column in form.required if column not in layout.columns]
    odd = oddity(layout)
    alike = layout.kind in form.kinds and len(missing) < len(form.required)
    if alike and not odd and set(_fitting(layout)) <= {form.name}:
        refuse_unknown(form, layout.columns, layout.file, layout.line)
    another = not set(form.without).isdisjoint(layout.columns)
    if missing or not alike or odd or another:
        raise InputError(
            f"not in the {form.name} format{_hint(layout)}",
            file=layout.file,
            row=layout.line,
            field=missing[0] if missing else None,
            value=_listed(layout.columns),
            expected=f"{_KINDS[form.kinds[0]]} {_listed(form.required)}",
        )


def refuse_unknown(form: Format, columns: Iterable[str], file: str, line: int | None) -> None:
    """Raises UnknownName for a column that `form` has no place for."""
    if form.optional is None:
        return
    known = form.required + form.optional
    for column in columns:
        if column not in known:
            where = file if line is None else f"{file}, line {line}"
            raise UnknownName("column", column, known, where=where)


def _fitting(layout: Layout) -> list[str]:
    seen = set(layout.columns)
    return [
        form.name
        for form in FORMATS.values()
        if layout.kind in form.kinds
        and seen.issuperset(form.required)
        and seen.isdisjoint(form.without)
    ]


def _hint(layout: Layout) -> str:
    fitting = _fitting(layout)
    reason = oddity(layout) or (f"it looks like {' or '.join(fitting)}" if fitting else "")
    return f"; {reason or _separated(layout)}".removesuffix("; ")


def _separated(layout: Layout) -> str:
    """Cells that are separated by something else than they were read by."""
    for sign, name in _SEPARATORS.items():
        if layout.kind == "csv" and len(layout.columns) == 1 and sign in layout.columns[0]:
            return f"its cells are separated otherwise: csv:path=FILE:sep={name}"
    return ""


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")
