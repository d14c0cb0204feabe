"""The loads of the growth table: who sends what to an engine of which size, under which policy."""

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import attrs
from measuring import COMMON_CONFIG, COMMON_POLICY, common_workload, component

from sched_core import (
    EngineConfig,
    HashedPrefix,
    Policy,
    RequestSpec,
    RequestView,
    SchedulerView,
    Workload,
    hookimpl,
)

HASHED = 512
"""Tokens in a block of a Mooncake row."""


class Case(NamedTuple):
    """What is run at one point of the table."""

    workload: Workload
    config: EngineConfig
    policy: Callable[[], Policy]
    standing: int = 0
    """Requests that wait all the time: the clock starts when they do."""


@attrs.define(eq=False)
class PrioritiesThatMove:
    """The client's priority, as a key that is asked again: after events, or in every scan."""

    priority_moves: str

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        return request.priority


@attrs.define(eq=False)
class VisitEveryone:
    """Everyone who runs is visited in every step, in order of admission."""

    @hookimpl
    def order_running(self, view: SchedulerView) -> Iterable[RequestView]:
        return view.running


@attrs.define(eq=False)
class DecodesFirst:
    """Everyone who runs is looked at and put in order in every step."""

    @hookimpl
    def order_running(self, view: SchedulerView) -> Iterable[RequestView]:
        return sorted(view.running, key=lambda request: request.is_prefill)


def own(component_: object) -> Callable[[], Policy]:
    """A policy of one component that is no plugin."""
    return lambda: Policy([(type(component_).__name__, component_)])


POLICIES: dict[str, Callable[[], Policy]] = {
    "fcfs": lambda: Policy.from_spec(COMMON_POLICY),
    "priority": lambda: Policy.from_spec("priority"),
    "aging": lambda: Policy.from_spec("priority:aging=30"),
    "sjf": lambda: Policy.from_spec("sjf"),
    "vtc": lambda: Policy.from_spec("vtc"),
    "caching": lambda: Policy.from_spec("fcfs"),
    "preempt": lambda: Policy.from_spec("fcfs"),
    "swap": lambda: Policy.from_spec("swap"),
    "visited": own(VisitEveryone()),
    "event-keys": own(PrioritiesThatMove("event")),
    "time-keys": own(PrioritiesThatMove("time")),
}
STORMS = ("preempt", "swap")


def many_requests(load: str, requests: int, _served: int, trace: Path | None) -> Case:
    """More and more requests, at a load that stays the same."""
    if load in STORMS:
        return _storm(load, requests, at_once=32)
    if load == "caching":
        return _cached(_rows(requests, trace), at_once=16, blocks=27_000)
    return Case(common_workload(requests), COMMON_CONFIG, POLICIES[load])


def many_running(load: str, running: int, requests: int, trace: Path | None) -> Case:
    """The same requests, more and more of them at once."""
    if load in STORMS:
        return _storm(load, requests, at_once=running)
    if load == "caching":
        return _cached(_rows(requests, trace), at_once=running, blocks=1_000_000)
    workload = _closed(requests, running, prompt_len="16..256", output_len="64..512")
    return Case(workload, _config(48 * running, running), POLICIES[load])


def many_waiting(load: str, waiting: int, requests: int, trace: Path | None) -> Case:
    """`requests` beside those that wait: whenever one of eight ends, the next one arrives."""
    seats, at_once = 8, 8 + waiting
    everyone = requests + at_once + 256  # so that some are left when the clock stops
    if load in STORMS:
        case = _storm(load, everyone, at_once, seats)
    elif load == "caching":
        case = _cached(_rows(everyone, trace), at_once, blocks=27_000, seats=seats)
    else:
        workload = _closed(everyone, at_once, prompt_len="16..256", output_len="4..32")
        case = Case(workload, _config(27_000, seats), POLICIES[load])
    return case._replace(standing=waiting)


def many_blocks(load: str, blocks: int, requests: int, _trace: Path | None) -> Case:
    """The same requests, which fit the smallest pool, beside more and more blocks."""
    if load == "caching":
        return _cached(_rows(requests, None), at_once=4, blocks=blocks)
    workload = _closed(requests, 32, prompt_len="16..200", output_len="16..100")
    return Case(workload, _config(blocks), POLICIES[load])


def _config(blocks: int, seats: int = 256, **more: Any) -> EngineConfig:
    return EngineConfig(num_gpu_blocks=blocks, max_num_seqs=seats, **more)


def _closed(requests: int, at_once: int, **lengths: str) -> Workload:
    source = component("workloads", "closed", n=requests, max_concurrency=at_once, **lengths)
    workload: Workload = source.build(0)
    return workload


def _storm(load: str, requests: int, at_once: int, seats: int | None = None) -> Case:
    """A pool for a third of what those who run come to need, a host pool for all of it."""
    seats = seats or at_once
    workload = _closed(requests, at_once, prompt_len="16..128", output_len="64..512")
    config = _config(8 * seats, seats, num_cpu_blocks=64 * seats if load == "swap" else 0)
    return Case(workload, config, POLICIES[load])


def _cached(rows: list[RequestSpec], at_once: int, blocks: int, seats: int | None = None) -> Case:
    workload = Workload(rows, max_concurrency=at_once)
    config = _config(blocks, seats or at_once, enable_prefix_caching=True)
    return Case(workload, config, POLICIES["caching"])


def _rows(count: int, trace: Path | None) -> list[RequestSpec]:
    """`count` rows as in Mooncake's traces, all there at 0; of a file again and again, with
    contents of their own each time."""
    if trace is None:
        return conversations(count)
    read = component("workloads", "mooncake", path=str(trace)).build(0).requests
    beyond = 1 + max(max(row.prefix.ids, default=0) for row in read)
    return [
        _row(number, row.prompt_len, row.output_len, [again * beyond + i for i in row.prefix.ids])
        for number in range(count)
        for again, row in [(number // len(read), read[number % len(read)])]
    ]


def conversations(count: int) -> list[RequestSpec]:
    """Rows of 64 conversations side by side, of four turns each, behind one system prompt.

    Each turn repeats the one before and adds 256 to 768 tokens; outputs are of 16 to 300.
    """
    draw, fresh = random.Random(0), iter(range(1, 2**31))
    prompts, turns, rows = [HASHED] * 64, [[0] for _ in range(64)], []
    for number in range(count):
        who = draw.randrange(64)
        if prompts[who] >= 4 * HASHED:
            prompts[who], turns[who] = HASHED, [0]
        kept = turns[who][: prompts[who] // HASHED]
        prompts[who] += draw.randint(256, 768)
        blocks = -(-prompts[who] // HASHED)
        turns[who] = kept + [next(fresh) for _ in range(blocks - len(kept))]
        rows.append(_row(number, prompts[who], draw.randint(16, 300), turns[who]))
    return rows


def _row(number: int, prompt_len: int, output_len: int, ids: list[int]) -> RequestSpec:
    prefix = HashedPrefix(tuple(ids), HASHED)
    return RequestSpec(f"r{number}", 0.0, prompt_len, output_len, prefix=prefix)
