"""The trace formats we read, those we know and cannot read, and how to tell them apart.

A format is told by its column names alone, never by the file's name or by position.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sched_core import InputError, UnknownName
from sched_plugins.workloads.traces.rows import Kind, Layout


class Format(NamedTuple):
    """A format that can be read."""

    name: str
    kind: Kind
    required: tuple[str, ...]
    optional: tuple[str, ...] | None = None
    """Further columns that may be there; None is any."""


class Foreign(NamedTuple):
    """A format that would be misread: told by some `columns`, in the absence of `without`."""

    name: str
    columns: frozenset[str]
    why: str
    without: frozenset[str] = frozenset()


_OWN = ("arrival", "prompt_len", "output_len")
_OWN_OPTIONAL = ("id", "priority", "tenant", "prefix_group", "prefix_len")

FORMATS = {
    form.name: form
    for form in (
        Format("azure", "csv", ("TIMESTAMP", "ContextTokens", "GeneratedTokens")),
        Format("burstgpt", "csv", ("Timestamp", "Request tokens", "Response tokens")),
        Format("mooncake", "jsonl", ("timestamp", "input_length", "output_length", "hash_ids"), ()),
        Format("vidur", "csv", ("arrived_at", "num_prefill_tokens", "num_decode_tokens")),
        Format("csv", "csv", _OWN, _OWN_OPTIONAL),
        Format("jsonl", "jsonl", _OWN, _OWN_OPTIONAL),
    )
}

_KINDS = {"csv": "a CSV header with", "jsonl": "one JSON object a line with"}

_ROUNDS = "its rounds wait for the answer before, they have no arrivals of their own"

FOREIGN = (
    Foreign(
        "RAGPulse",
        frozenset({"timestamp", "hash_ids", "session_id"}),
        "its hash_ids are lists by role, not one chain of blocks, and its clock restarts",
    ),
    Foreign(
        "Bailian",
        frozenset({"chat_id", "parent_chat_id"}),
        "its stamps are seconds and its hash blocks have 16 tokens",
    ),
    Foreign(
        "the Splitwise simulator",
        frozenset({"arrival_timestamp", "prompt_size", "token_size"}),
        "its request types, applications and batch sizes have no counterpart here",
    ),
    Foreign(
        "a file of lengths",
        frozenset({"num_prefill_tokens", "num_decode_tokens"}),
        "it holds no arrivals",
        without=frozenset({"arrived_at"}),
    ),
    Foreign("TraceLab", frozenset({"session_id", "round_idx"}), _ROUNDS),
    Foreign("TraceLab", frozenset({"session_id", "round_index"}), _ROUNDS),
    Foreign("VTC", frozenset({"config", "result"}), "it holds results, not requests"),
    Foreign(
        "vLLM's custom data set",
        frozenset({"prompt"}),
        "it holds texts without lengths or arrivals",
    ),
)


def identify(layout: Layout) -> str:
    """The name of the one format whose columns are all there; raises InputError otherwise."""
    fitting = [] if _oddity(layout) else _fitting(layout)
    if len(fitting) != 1:
        raise InputError(
            f"no format that can be told for sure{_hint(layout)}",
            file=layout.file,
            row=layout.line,
            value=_listed(layout.columns),
            expected=_candidates(fitting or list(FORMATS), brief=bool(_oddity(layout))),
        )
    return fitting[0]


def _candidates(names: list[str], *, brief: bool) -> str:
    if brief:
        return f"the columns of {', '.join(names[:-1])} or {names[-1]}"
    return "; or ".join(f"{name}: {_listed(FORMATS[name].required)}" for name in names)


def demand(form: Format, layout: Layout) -> None:
    """Raises InputError or UnknownName unless the file has the columns of `form`."""
    missing = [column for column in form.required if column not in layout.columns]
    alike = form.kind == layout.kind and len(missing) < len(form.required)
    if alike and not _oddity(layout):
        refuse_unknown(form, layout.columns, layout.file, layout.line)
    if missing or not alike or _oddity(layout):
        raise InputError(
            f"not in the {form.name} format{_hint(layout)}",
            file=layout.file,
            row=layout.line,
            field=missing[0] if missing else None,
            value=_listed(layout.columns),
            expected=f"{_KINDS[form.kind]} {_listed(form.required)}",
        )


def refuse_unknown(form: Format, columns: Iterable[str], file: str, line: int) -> None:
    """Raises UnknownName for a column that `form` has no place for."""
    if form.optional is None:
        return
    known = form.required + form.optional
    for column in columns:
        if column not in known:
            raise UnknownName("column", column, known, where=f"{file}, line {line}")


def _fitting(layout: Layout) -> list[str]:
    seen = set(layout.columns)
    return [
        form.name
        for form in FORMATS.values()
        if form.kind == layout.kind and seen.issuperset(form.required)
    ]


def _oddity(layout: Layout) -> str:
    """Why the file is none that we read, where we know it."""
    seen = set(layout.columns)
    if layout.kind == "csv" and _is_number(layout.columns[0]):
        windows = ", as in ServeGen, which describes windows and not requests"
        return f"the first line is no header{windows if len(layout.columns) == 6 else ''}"
    for foreign in FOREIGN:
        if foreign.columns <= seen and not foreign.without & seen:
            return f"it looks like {foreign.name}: {foreign.why}"
    return ""


def _hint(layout: Layout) -> str:
    fitting = _fitting(layout)
    reason = _oddity(layout) or (f"it looks like {' or '.join(fitting)}" if fitting else "")
    return f"; {reason}" if reason else ""


def _listed(columns: tuple[str, ...]) -> str:
    return ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
