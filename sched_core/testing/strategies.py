"""Hypothesis strategies: workloads, configurations, and whole scenarios of both."""

from collections.abc import Sequence
from typing import Any

import attrs
from hypothesis import assume
from hypothesis import strategies as st

from sched_core.config import EngineConfig
from sched_core.engine.servable import refusal
from sched_core.experiment.scenario import ONE_STEP_A_SECOND, Scenario
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec, SharedPrefix

LONGEST_PROMPT, LONGEST_OUTPUT = 40, 24
SCALES = (1, 1, 1, 1, 1, 10, 10, 40)
"""How many times larger lengths and budgets are, equally often: policies have thresholds."""
PATIENCE = 4
"""Steps per token that a run may take to its end, before it counts as stuck."""


def _tokens(most: int, scale: int) -> st.SearchStrategy[int]:
    """1..most * scale tokens, in two numbers below 100: among larger ones hypothesis mixes
    constants of whatever modules are loaded, and the scenarios are to be the same every time."""
    coarse, fine = st.integers(0, most - 1), st.integers(0, scale - 1)
    return st.builds(lambda many, few: 1 + scale * many + few, coarse, fine)


@st.composite
def workloads(draw: st.DrawFn, /, max_requests: int = 12, scale: int = 1) -> list[RequestSpec]:
    """Few requests that come in bunches, so that they get in each other's way.

    They are short; with a `scale` prompts are up to so many times longer, and outputs twice.
    """
    arrival, specs = 0.0, []
    for number in range(draw(st.integers(1, max_requests))):
        arrival += draw(st.sampled_from((0.0, 0.0, 0.5, 1.0, 3.0)))
        prompt_len = draw(_tokens(LONGEST_PROMPT, scale))
        prefix = None
        if draw(st.booleans()):
            group, whole = draw(st.integers(0, 1)), draw(st.integers(0, prompt_len // scale))
            prefix = SharedPrefix(group, scale * whole)
        specs.append(
            RequestSpec(
                f"r{number}",
                arrival,
                prompt_len,
                draw(_tokens(LONGEST_OUTPUT, min(scale, 2))),  # each is a step
                draw(st.integers(0, 3)),
                draw(st.sampled_from(("a", "b"))),
                prefix,
            )
        )
    return specs


@st.composite
def in_sessions(draw: st.DrawFn, /, specs: Sequence[RequestSpec]) -> list[RequestSpec]:
    """The same requests, most of which are turns of two sessions, in order; some prompts grow to
    hold the turn before and its answer."""
    found: list[RequestSpec] = []
    last: dict[str, RequestSpec] = {}
    for spec in specs:
        name = draw(st.sampled_from((None, "s", "t")))
        if name is not None:
            before = last.get(name)
            kept = before.prompt_len + before.output_len if before and draw(st.booleans()) else 0
            spec = last[name] = attrs.evolve(
                spec,
                prompt_len=kept + spec.prompt_len % 7 + 1 if kept else spec.prompt_len,
                prefix=before.prefix if kept and before else spec.prefix,
                session=name,
                turn=before.turn + 1 if before else 0,
                think_time=draw(st.sampled_from((None, 0.0, 0.5, 3.0))),
            )
        found.append(spec)
    return found


@st.composite
def given_up(draw: st.DrawFn, /, specs: Sequence[RequestSpec]) -> list[RequestSpec]:
    """The same requests, some of which their clients give up."""
    waits = st.sampled_from((None, None, None, 0.0, 1.0, 4.5, 20.0))
    waited = [draw(waits) for _ in specs]
    return [
        spec if wait is None else attrs.evolve(spec, abort=spec.arrival + wait)
        for spec, wait in zip(specs, waited, strict=True)
    ]


@st.composite
def configs(draw: st.DrawFn, /, scale: int = 1, **fixed: Any) -> EngineConfig:
    """Small engines in which budget, seats, blocks and host blocks all run short at times.

    With a `scale` budget and memory are so many times larger.
    """
    budget = scale * draw(st.sampled_from((4, 7, 16, 33, 128)))
    block_size = draw(st.sampled_from((1, 2, 4, 16) if scale == 1 else (16, 64)))
    largest = -(-scale * (LONGEST_PROMPT + LONGEST_OUTPUT) // block_size)
    chunked = draw(st.sampled_from((True, True, False)))
    lengths = [scale * length for length in (30, 60) if chunked or scale * length <= budget]
    drawn: dict[str, Any] = {
        "max_num_batched_tokens": budget,
        "max_num_seqs": draw(st.sampled_from([seats for seats in (1, 2, 4, 8) if seats <= budget])),
        "max_model_len": draw(st.sampled_from((None, None, *lengths))),
        "block_size": block_size,
        "num_gpu_blocks": largest * draw(st.sampled_from((3, 4, 4, 5, 6, 10))) // 4,
        "num_cpu_blocks": draw(st.sampled_from((0, 3, largest, 2 * largest))),
        "enable_chunked_prefill": chunked,
        "long_prefill_token_threshold": scale * draw(st.sampled_from((0, 0, 3, 10))),
        "watermark": draw(st.sampled_from((0.0, 0.0, 0.1))),
        "scheduler_reserve_full_isl": draw(st.booleans()),
        "enable_prefix_caching": draw(st.booleans()),
        "batching": draw(st.sampled_from((*["continuous"] * 4, "static", "padded"))),
    }
    return EngineConfig(**(drawn | fixed))


@st.composite
def scenarios(draw: st.DrawFn, /, **fixed: Any) -> Scenario:
    """A workload on an engine that can serve some of it, one second a step.

    The horizon is far beyond what a policy needs that gets on at all.
    """
    scale = draw(st.sampled_from(SCALES))
    specs = draw(workloads(12 if scale == 1 else 3, scale))
    config = draw(configs(scale, **fixed))
    if draw(st.sampled_from((False, False, True))):
        specs = draw(given_up(specs))
    assume(any(refusal(spec, config) is None for spec in specs))
    return scenario(specs, config, draw(st.integers(0, 9)))


def scenario(specs: Sequence[RequestSpec], config: EngineConfig, seed: int = 0) -> Scenario:
    """A scenario that ends some time after the last arrival, whatever happens."""
    work = sum(spec.prompt_len + spec.output_len for spec in specs)
    return Scenario(
        hardware=ONE_STEP_A_SECOND,
        model=None,
        workload=Workload(specs),
        config=config,
        seed=seed,
        horizon=max(spec.arrival for spec in specs) + PATIENCE * work,
    )


@st.composite
def equals(draw: st.DrawFn, /) -> Scenario:
    """A stream of equal requests, faster than they can be served, behind a first bunch."""
    prompt_len, output_len = draw(st.integers(1, 20)), draw(st.integers(1, 12))
    seats = draw(st.integers(1, 3))
    gap = draw(st.sampled_from((0.25, 1.0))) * output_len / seats
    bunch, count = seats + draw(st.integers(1, 4)), draw(st.sampled_from((16, 40)))
    specs = [
        RequestSpec(f"r{n}", max(0, n - bunch) * gap, prompt_len, output_len) for n in range(count)
    ]
    size = draw(st.sampled_from((1, 4)))
    whole = -(-(prompt_len + output_len - 1) // size)
    config = EngineConfig(
        max_num_batched_tokens=draw(st.sampled_from((8, 64))),
        max_num_seqs=seats,
        block_size=size,
        num_gpu_blocks=whole + draw(st.integers(0, 2 * whole)),
        scheduler_reserve_full_isl=draw(st.booleans()),
    )
    return scenario(specs, config)
