"""Formats that we know and cannot read, so that none is taken for another."""

from collections.abc import Mapping
from typing import NamedTuple

from sched_core.tables import Layout


class Foreign(NamedTuple):
    """A format that would be misread: told by some `columns`, in the absence of `without`."""

    name: str
    columns: frozenset[str]
    why: str
    without: frozenset[str] = frozenset()
    kinds: Mapping[str, type] = {}
    """The type of what the first row has in some of them."""


_TURNS = "its turns wait for the answer before, they have no arrivals of their own"

_KNOWN = (
    Foreign(
        "RAGPulse",
        frozenset({"timestamp", "hash_ids", "session_id"}),
        "its hash_ids are lists by role, not one chain of blocks, and its clock restarts",
        kinds={"hash_ids": dict},
    ),
    Foreign(
        "Bailian",
        frozenset({"chat_id", "parent_chat_id"}),
        "its stamps are seconds and its hash blocks have 16 tokens",
    ),
    Foreign(
        "AIPerf's prompts",
        frozenset({"text_input"}),
        "it holds texts without lengths; texts:path=FILE:model=DIRECTORY counts their tokens",
    ),
    Foreign("agents of LLMServingSim", frozenset({"sub_requests"}), _TURNS),
    Foreign("agents of AIBrix", frozenset({"schema_version", "events"}), _TURNS),
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
    Foreign("TraceLab", frozenset({"session_id", "round_idx"}), _TURNS),
    Foreign("TraceLab", frozenset({"session_id", "round_index"}), _TURNS),
    Foreign("VTC", frozenset({"config", "result"}), "it holds results, not requests"),
    Foreign(
        "a result of vllm bench serve",
        frozenset({"backend", "num_prompts", "request_throughput"}),
        "it holds figures, not requests; --save-detailed adds them",
        without=frozenset({"input_lens"}),
    ),
    Foreign(
        "a result of vllm bench serve",
        frozenset({"input_lens", "output_lens", "ttfts"}),
        "it does not say when requests were sent; newer versions of vLLM write start_times",
        without=frozenset({"start_times"}),
    ),
    Foreign(
        "AIPerf's summary",
        frozenset({"request_throughput", "input_sequence_length"}),
        "it holds figures, not requests; profile_export.jsonl holds them",
    ),
    Foreign(
        "vLLM's custom data set",
        frozenset({"prompt"}),
        "it holds texts without lengths or arrivals",
        without=frozenset({"arrival"}),
    ),
)


def oddity(layout: Layout) -> str:
    """Why the file is none that we read, where we know it."""
    seen = set(layout.columns)
    if layout.kind == "csv" and _is_number(layout.columns[0]):
        windows = ", as in ServeGen, which describes windows and not requests"
        return f"the first line is no header{windows if len(layout.columns) == 6 else ''}"
    if layout.kind == "json" and all(map(_is_number, layout.columns)):
        return "it looks like ServeGen: it describes windows and not requests"
    for foreign in _KNOWN:
        if foreign.columns <= seen and not foreign.without & seen and _alike(foreign, layout):
            return f"it looks like {foreign.name}: {foreign.why}"
    return ""


def _alike(foreign: Foreign, layout: Layout) -> bool:
    return all(isinstance(layout.first.get(key), kind) for key, kind in foreign.kinds.items())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
