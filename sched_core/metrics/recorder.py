"""What a run leaves behind, packed: a fixed row per ended request, and sums over the steps."""

from array import array
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sched_core.request import Request, RequestState

COLUMNS: Final = (
    "submitted_seq",
    "state",
    "tenant",
    "priority",
    "arrival_ns",
    "prompt_len",
    "output_tokens",
    "first_scheduled_ns",
    "first_token_ns",
    "finish_ns",
    "preempted_ns",
    "preemptions",
    "recomputed_tokens",
    "cached_tokens",
    "reason",
)
"""Integers per request; -1 stands for "never". `state`, `tenant` and `reason` are indices into
`STATES`, `Recorder.tenants` and `Recorder.reasons`."""

SLOS: Final = ("ttft_slo", "tpot_slo", "e2el_slo", "deadline")
"""What a request may ask for, in seconds."""

STATES: Final = tuple(RequestState)
_NUMBER = {state: number for number, state in enumerate(STATES)}


class Recorder:
    """Collects while a run goes on; 15 integers and an id per request, no request is kept."""

    def __init__(self) -> None:
        self._rows = array("q")
        self.ids: list[str] = []
        self.ended_by_state = dict.fromkeys(RequestState, 0)
        self.tenants: dict[str, int] = {}
        self.reasons: dict[str, int] = {}
        self.slos: dict[int, tuple[float | None, ...]] = {}
        """Submission -> SLOS, of the requests that ask for any."""
        self._gap_ns = array("q")
        self._gap_counts = array("q")
        self.steps = 0
        self.end_ns = 0
        """When the last step ended."""
        self.busy_ns = 0
        """Sum of step durations."""
        self.computed_tokens = 0
        self.padding_tokens = 0
        """Positions computed for nothing, in padded batches."""
        self.recomputed_tokens = 0
        self.preemptions = 0
        self.swap_outs = 0
        self.swap_ins = 0
        self.swapped_blocks = 0
        """Blocks copied, both ways."""
        self.peak_blocks = 0
        self.peak_running = 0
        self.block_ns = 0
        """Integral of used blocks over the steps, in block-nanoseconds."""
        self.waiting_ns = 0
        self.running_ns = 0
        self.prefix_queries = 0
        self.prefix_hits = 0

    def step(
        self, duration_ns: int, tokens: int, used_blocks: int, waiting: int, running: int
    ) -> None:
        """Take in an executed step, before its outcome changes who waits and runs."""
        self.steps += 1
        self.busy_ns += duration_ns
        self.computed_tokens += tokens
        self.block_ns += used_blocks * duration_ns
        self.waiting_ns += waiting * duration_ns
        self.running_ns += running * duration_ns
        if used_blocks > self.peak_blocks:
            self.peak_blocks = used_blocks
        if running > self.peak_running:
            self.peak_running = running

    def leap(
        self, durations_ns: Sequence[int], block_ns: int, peak: int, waiting: int, running: int
    ) -> None:
        """Take in steps in which everyone running decoded, and nothing else happened.

        `block_ns` is the sum of used blocks x duration, `peak` the most that were in use.
        """
        total = sum(durations_ns)
        self.steps += len(durations_ns)
        self.busy_ns += total
        self.computed_tokens += running * len(durations_ns)
        self.block_ns += block_ns
        self.waiting_ns += waiting * total
        self.running_ns += running * total
        if peak > self.peak_blocks:
            self.peak_blocks = peak
        if running > self.peak_running:
            self.peak_running = running

    def moved(self, preemptions: int, outs: int, ins: int, blocks: int) -> None:
        """Take in what a step took away, and what it copied."""
        self.preemptions += preemptions
        self.swap_outs += outs
        self.swap_ins += ins
        self.swapped_blocks += blocks

    def gaps(self, gap_ns: int, count: int) -> None:
        """`count` requests got a token `gap_ns` after their previous one."""
        if self._gap_ns and self._gap_ns[-1] == gap_ns:
            self._gap_counts[-1] += count
        else:
            self._gap_ns.append(gap_ns)
            self._gap_counts.append(count)

    def gaps_of_leap(self, ahead_ns: int, durations_ns: Sequence[int], count: int) -> None:
        """`count` requests got a token at the end of every step; `ahead_ns` passed between their
        previous one and the first step."""
        if ahead_ns or len({*durations_ns, *self._gap_ns[-1:]}) <= len(durations_ns):
            for number, gap_ns in enumerate(durations_ns):  # equal ones in a row are one entry
                self.gaps(gap_ns if number else gap_ns + ahead_ns, count)
        else:
            self._gap_ns.fromlist(list(durations_ns))
            self._gap_counts.fromlist([count] * len(durations_ns))

    def ended(self, request: Request) -> None:
        """Take in a request's final row."""
        self.ids.append(request.id)
        self.ended_by_state[request.state] += 1
        reason, spec = request.reason, request.spec
        if spec.has_slo:
            self.slos[request.submitted_seq] = tuple([getattr(spec, name) for name in SLOS])
        self._rows.extend(
            (
                request.submitted_seq,
                _NUMBER[request.state],
                self.tenants.setdefault(request.tenant, len(self.tenants)),
                spec.priority,
                request.arrival_ns,
                request.prompt_len,
                request.emitted,
                _or_never(request.first_scheduled_ns),
                _or_never(request.first_token_ns),
                _or_never(request.finish_ns),
                request.preempted_ns,
                request.preemptions,
                request.recomputed_tokens,
                request.cached_tokens,
                -1 if reason is None else self.reasons.setdefault(reason, len(self.reasons)),
            )
        )

    def columns(self) -> dict[str, NDArray[np.int64]]:
        """The rows by column name, in order of submission."""
        rows = np.array(self._rows, dtype=np.int64).reshape(-1, len(COLUMNS))
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        return {name: rows[:, index] for index, name in enumerate(COLUMNS)}

    def ids_in_order(self) -> list[str]:
        """Request ids in order of submission."""
        sequence = self._rows[:: len(COLUMNS)]
        return [name for _, name in sorted(zip(sequence, self.ids, strict=True))]

    def gap_histogram(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(gap in ns, how often) of all inter-token gaps, sorted by gap; gaps may repeat."""
        gaps = np.array(self._gap_ns, dtype=np.int64)
        order = np.argsort(gaps, kind="stable")
        return gaps[order], np.array(self._gap_counts, dtype=np.int64)[order]


def _or_never(value: int | None) -> int:
    return -1 if value is None else value
