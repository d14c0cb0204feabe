"""Random mixed steps, run and timed: what a price is fitted to, and held against."""

import statistics
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, Self

import attrs
import numpy as np

from hwmodels.measured.linear_costs import LinearCosts, fit, relative_errors
from hwmodels.torch_executor.executor import StepRunner
from hwmodels.torch_executor.model.loaded import LoadedModel
from sched_core import ScheduledRequest, StepLoad, Swap


@attrs.frozen(kw_only=True)
class Range:
    """How large the measured steps may be; a fit says little beyond that."""

    max_num_batched_tokens: int = 512
    max_num_seqs: int = 32
    max_model_len: int = 1024

    @classmethod
    def of(cls, loaded: LoadedModel) -> Self:
        """As large as usual, within the model's positions."""
        limits = cls()
        longest = min(limits.max_model_len, loaded.max_positions or limits.max_model_len)
        return attrs.evolve(limits, max_model_len=longest)


class Timed(NamedTuple):
    """Steps with their times."""

    loads: list[StepLoad]
    seconds: list[float]
    """Median of the repeats, per step."""
    spread: list[float]
    """(largest - smallest) / median of the repeats, per step."""

    def every_second(self, start: int) -> "Timed":
        """Half of the steps: those from `start`, 0 or 1, on."""
        return Timed(self.loads[start::2], self.seconds[start::2], self.spread[start::2])


class Part(NamedTuple):
    """One request's part of a measured step, in tokens."""

    computed: int
    new: int
    known: int
    """Prompt and emitted tokens, all of them; who computes the last one samples."""
    emitted: int

    @property
    def samples(self) -> bool:
        return self.computed + self.new == self.known

    @property
    def is_prefill(self) -> bool:
        """As the engine has it, so that a fit sees what a simulation is priced by: a prompt's last
        chunk is one even if it is a single token."""
        return self.emitted == 0 or self.known - self.computed > 1


def decode(computed: int) -> Part:
    """The next token of a request after `computed` ones."""
    return Part(computed, 1, computed + 1, emitted=1)


def chunk(computed: int, new: int, *, last: bool = True) -> Part:
    """`new` tokens of a prompt after `computed` ones."""
    return Part(computed, new, computed + new + (not last), emitted=0)


Shape = list[Part]


CHUNKS = (0.35, 0.4, 0.15, 0.1)
"""How often a measured step holds 0, 1, 2 and 3 prompt chunks."""


def random_shapes(limits: Range, count: int, seed: int) -> Iterator[Shape]:
    """Mixed steps: up to `max_num_seqs` decodes of any context, and at times a few chunks.

    Of every twelve, two are a single token, and two sample none: seldom by chance, and without
    them a fit could not tell the constants that they lack from those that every step has.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        if number % 12 in (0, 1):
            yield [decode(int(rng.integers(1, limits.max_model_len)))]
            continue
        if number % 12 in (2, 3):
            part, *_ = _chunks(rng, limits, 1, limits.max_num_batched_tokens)
            yield [chunk(part.computed, part.new, last=False)]
            continue
        contexts = rng.integers(1, limits.max_model_len, _decodes(rng, limits))
        decodes = [decode(int(context)) for context in contexts]
        chunks = int(rng.choice(len(CHUNKS), p=CHUNKS)) or int(not decodes)
        budget = limits.max_num_batched_tokens - len(decodes)
        yield decodes + list(_chunks(rng, limits, chunks, budget))


def _chunks(rng: np.random.Generator, limits: Range, count: int, budget: int) -> Iterator[Part]:
    """Short ones as often as long ones; half of them from position 0, half not the last."""
    for _ in range(count):
        longest = min(budget, limits.max_model_len)
        if longest < 1:
            break
        new = int(np.exp(rng.uniform(0, np.log(longest + 1))))
        before = int(rng.integers(0, limits.max_model_len - new + 1))
        yield chunk(before * int(rng.integers(2)), new, last=bool(rng.integers(2)))
        budget -= new


def _decodes(rng: np.random.Generator, limits: Range) -> int:
    most = min(limits.max_num_seqs, limits.max_num_batched_tokens)
    return int(np.exp(rng.uniform(0, np.log(most + 2)))) - 1


def time_steps(runner: StepRunner, shapes: Sequence[Shape], repeats: int) -> Timed:
    """Run every step `repeats` times, on K and V of no meaning."""
    prepared = [prepare(runner, shape) for shape in shapes]
    for shares in prepared[:3]:
        _seconds(runner, shares)  # a first run of anything is slow
    times = [[_seconds(runner, shares) for shares in prepared] for _ in range(repeats)]
    runs = list(zip(*times, strict=True))
    medians = [statistics.median(run) for run in runs]
    spread = [(max(run) - min(run)) / m for run, m in zip(runs, medians, strict=True)]
    return Timed([load_of(shape) for shape in shapes], medians, spread)


def prepare(runner: StepRunner, shape: Shape) -> list[ScheduledRequest]:
    """Each request with blocks of its own."""
    shares, first = [], 1
    for number, part in enumerate(shape):
        blocks = -(-(part.computed + part.new) // runner.pool.block_size)
        table = tuple(range(first, first + blocks))
        shares.append(
            ScheduledRequest(f"measured {number}", part.new, part.computed, table, part.samples)
        )
        first += blocks
    return shares


def _seconds(runner: StepRunner, shares: Sequence[ScheduledRequest]) -> float:
    for number, share in enumerate(shares):
        length = share.num_computed_tokens + share.num_tokens
        runner.tokens[share.id] = random_tokens(runner.loaded.vocab, number, length)
    return runner.run(shares).duration


@cache
def random_tokens(vocab: int, seed: int, length: int) -> list[int]:
    """What a request holds: experts are chosen by it, so it must not be the same for all."""
    drawn: list[int] = np.random.default_rng(seed).integers(0, vocab, length).tolist()
    return drawn


def load_of(shape: Shape) -> StepLoad:
    """What a hardware model is told of such a step."""
    decodes = [part.known for part in shape if not part.is_prefill]
    chunks = [(part.computed, part.new) for part in shape if part.is_prefill]
    return StepLoad(
        decodes=len(decodes),
        decode_kv_tokens=sum(decodes),
        prefills=len(chunks),
        prefill_tokens=sum(new for _, new in chunks),
        prefill_kv_tokens=sum(computed + new for computed, new in chunks),
        prefill_pairs=sum(new * computed + new * (new + 1) // 2 for computed, new in chunks),
        sampled=sum(part.samples for part in shape),
    )


def time_copies(runner: StepRunner, blocks: int = 16, repeats: int = 5) -> tuple[float, float]:
    """Seconds per block copied (to the host, back); no two lie side by side, as in a used pool."""
    ids = tuple(range(1, 2 * blocks, 2))
    swap, times = [Swap("measured", ids, ids)], []
    for _ in range(repeats):
        times.append((runner.run((), swap, ()).duration, runner.run((), (), swap).duration))
    out, back = (statistics.median(way) / blocks for way in zip(*times, strict=True))
    return out, back


def fitted(runner: StepRunner, timed: Timed) -> LinearCosts:
    """The price fitted to `timed`, copies included."""
    out, back = (float(f"{seconds:.4g}") for seconds in time_copies(runner))
    return attrs.evolve(fit(timed.loads, timed.seconds), block_out=out, block_in=back)


def errors(costs: LinearCosts, held_out: Timed) -> dict[str, float]:
    """How far `costs` is from steps it was not fitted to, and how far those are from themselves."""
    relative = relative_errors(costs, held_out.loads, held_out.seconds)
    figures = {
        "held_out": np.abs(relative).mean(),
        "held_out_p90": np.quantile(np.abs(relative), 0.9),
        "bias": relative.mean(),
        "bias_of_sum": (relative * held_out.seconds).sum() / sum(held_out.seconds),
        "spread": np.mean(held_out.spread),
    }
    return {name: round(float(value), 4) for name, value in figures.items()}
