"""What a run comes to: its figures and its requests' records, as vLLM's benchmark defines them.

Latencies are statistics over finished requests only; the counts of rejected, aborted and
unfinished ones stand beside them. Seconds everywhere, None where a figure is not defined.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched_core.limits import NANOSECONDS
from sched_core.metrics.attainment import (
    Attained,
    attained,
    own_limits,
    own_slo,
)
from sched_core.metrics.fairness import fairness
from sched_core.metrics.goodput import limits_of_run
from sched_core.metrics.latency import (
    Columns,
    describe,
    finish_ns,
    in_state,
    latencies,
    reached,
)
from sched_core.metrics.load import load
from sched_core.metrics.recorder import STATES, Recorder
from sched_core.metrics.window import WHOLE, Window
from sched_core.request import RequestState


def summarize(
    recorder: Recorder,
    *,
    num_blocks: int,
    block_bytes: int = 0,
    goodput: Mapping[str, float] | None = None,
    window: Window = WHOLE,
    max_concurrency: int | None = None,
) -> dict[str, Any]:
    """The figures of one run, as plain JSON values.

    `num_blocks` is the pool's size, `block_bytes` that of one block (0: unknown), `goodput` the
    limits in milliseconds per name of GOODPUT_METRICS, for everyone or `@` a class,
    `max_concurrency` that of a closed loop. Counts, latencies and classes are of the requests that
    arrive in `window`, rates of those that finish in it; steps, work and memory are of the whole
    run.

    `itl` pools the gaps of all requests, of aborted and unfinished ones too; with a warm-up it is
    not defined, since the gaps are kept without a time.
    """
    run = recorder.columns()
    rows, ending = _part(run, window.arriving(run)), _part(run, window.ending(run))
    times = latencies(rows)
    finished = in_state(rows, RequestState.FINISHED)
    seconds, own = window.seconds(run), own_limits(recorder, rows)
    limits = limits_of_run(goodput or {}, recorder, rows)
    marks = {
        "slo_attainment": attained(times, rows, limits),
        "own_slo": attained(times, rows, own),
    }
    in_time = attained(
        latencies(ending), ending, limits_of_run(goodput or {}, recorder, ending)
    ).good
    return {
        **_counts(rows),
        "left_out": len(run["state"]) - len(rows["state"]),
        "steps": recorder.steps,
        "makespan": _makespan(run),
        "measured": seconds,
        **{
            name: describe(np.where(finished, times[name], np.nan))
            for name in ("ttft", "tpot", "e2el", "queue_time")
        },
        "itl": describe(np.array([])) if window.warmup else describe(*recorder.gap_histogram()),
        **_throughput(ending, seconds),
        **_goodput(marks["slo_attainment"], in_time, seconds, asked=bool(goodput)),
        "own_slo": own_slo(times, rows, own),
        "load": load(run, max_concurrency),
        **_work(recorder, block_bytes),
        **_occupancy(recorder, num_blocks),
        **fairness(recorder, rows, times, marks),
    }


def blank_summary(tenants: Iterable[str], priorities: Iterable[int]) -> dict[str, Any]:
    """The figures that a run with such requests will have, none of them defined yet."""
    recorder = Recorder()
    recorder.tenants = {name: number for number, name in enumerate(tenants)}
    blank = summarize(recorder, num_blocks=1)
    (group, *_) = blank["tenants"].values()
    return blank | {"priorities": {str(priority): group for priority in priorities}}


def _part(rows: Columns, chosen: NDArray[np.bool_]) -> Columns:
    return {name: column[chosen] for name, column in rows.items()}


def _counts(rows: Columns) -> dict[str, int]:
    counts = {
        state.value: int(in_state(rows, state).sum())
        for state in (RequestState.FINISHED, RequestState.REJECTED, RequestState.ABORTED)
    }
    submitted = len(rows["state"])
    return {"submitted": submitted, **counts, "unfinished": submitted - sum(counts.values())}


def _makespan(rows: Columns) -> float | None:
    """First arrival to last completion, in seconds: the duration of vLLM's benchmark."""
    finished = in_state(rows, RequestState.FINISHED)
    if not finished.any():
        return None
    span = rows["finish_ns"][finished].max() - rows["arrival_ns"].min()
    return int(span) / NANOSECONDS


def _throughput(ending: Columns, seconds: float | None) -> dict[str, float | None]:
    """Requests that finish and their tokens per second measured; a token counts once."""
    output, prompt = int(ending["output_tokens"].sum()), int(ending["prompt_len"].sum())
    return {
        "request_throughput": _ratio(len(ending["state"]), seconds),
        "output_throughput": _ratio(output, seconds),
        "total_token_throughput": _ratio(prompt + output, seconds),
    }


def _goodput(
    marks: Attained, in_time: NDArray[np.bool_], seconds: float | None, *, asked: bool
) -> dict[str, Any]:
    """Requests within all limits: per second, of those that end `in_time`, and as a share of those
    sent (SGLang)."""
    if not asked:
        return {"good": None, "request_goodput": None, "slo_attainment": None}
    count = int(marks.good.sum())
    return {
        "good": count,
        "request_goodput": _ratio(int(in_time.sum()), seconds),
        "slo_attainment": _ratio(count, int(marks.counted.sum())),
    }


def _work(recorder: Recorder, block_bytes: int) -> dict[str, Any]:
    """What the steps did, the repeated and the moved apart; hits and queries are in tokens."""
    padding = recorder.padding_tokens
    known = bool(block_bytes) or not recorder.swapped_blocks
    return {
        "computed_tokens": recorder.computed_tokens,
        "recomputed_tokens": recorder.recomputed_tokens,
        "recompute_tax": _ratio(recorder.recomputed_tokens, recorder.computed_tokens),
        "padding_share": _ratio(padding, recorder.computed_tokens + padding) if padding else None,
        "preemptions": recorder.preemptions,
        "swap_outs": recorder.swap_outs,
        "swap_ins": recorder.swap_ins,
        "swapped_blocks": recorder.swapped_blocks,
        "swapped_bytes": recorder.swapped_blocks * block_bytes if known else None,
        "prefix_hit_rate": _ratio(recorder.prefix_hits, recorder.prefix_queries),
    }


def _occupancy(recorder: Recorder, num_blocks: int) -> dict[str, Any]:
    """Means over the time in which steps ran."""
    busy = recorder.busy_ns
    return {
        "peak_blocks": recorder.peak_blocks,
        "kv_use": {
            "mean": _ratio(recorder.block_ns, busy * num_blocks),
            "peak": recorder.peak_blocks / num_blocks,
        },
        "waiting": {"mean": _ratio(recorder.waiting_ns, busy)},
        "running": {"mean": _ratio(recorder.running_ns, busy), "peak": recorder.peak_running},
    }


def _ratio(part: float, whole: float | None) -> float | None:
    return part / whole if whole else None


def request_records(recorder: Recorder) -> list[dict[str, Any]]:
    """One record per request, in order of submission; seconds, None where not defined."""
    rows = recorder.columns()
    times = latencies(rows)
    columns: dict[str, Sequence[object]] = {
        "id": recorder.ids_in_order(),
        "state": [STATES[index].value for index in rows["state"]],
        "reason": _named(recorder.reasons, rows["reason"]),
        "tenant": _named(recorder.tenants, rows["tenant"]),
        "priority": rows["priority"].tolist(),
        "arrival": _seconds(rows["arrival_ns"]),
        "prompt_len": rows["prompt_len"].tolist(),
        "output_tokens": rows["output_tokens"].tolist(),
        "first_scheduled": _seconds(reached(rows["first_scheduled_ns"])),
        "first_token": _seconds(reached(rows["first_token_ns"])),
        "finish": _seconds(finish_ns(rows)),
        **{name: _seconds(times[name]) for name in ("ttft", "tpot", "e2el", "queue_time")},
        "own_slo_attained": _marked(attained(times, rows, own_limits(recorder, rows))),
        "preempted_time": _seconds(rows["preempted_ns"]),
        **{
            name: rows[name].tolist()
            for name in ("preemptions", "recomputed_tokens", "cached_tokens")
        },
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _marked(marks: Attained) -> list[bool | None]:
    """Per request; None where nothing was asked for."""
    pairs = zip(marks.counted.tolist(), marks.good.tolist(), strict=True)
    return [good if counted else None for counted, good in pairs]


def _seconds(nanoseconds: NDArray[Any]) -> list[float | None]:
    return [None if ns != ns else ns / NANOSECONDS for ns in nanoseconds.tolist()]


def _named(names: Mapping[str, int], indices: NDArray[np.int64]) -> list[str | None]:
    """The texts that a column of indices stands for; None for -1."""
    texts: list[str | None] = [*names, None]
    return [texts[index] for index in indices]
