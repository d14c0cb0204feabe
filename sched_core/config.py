"""The engine's configuration, in vLLM's words, and the combinations that cannot work."""

from typing import Any, Literal, Self, cast, get_args

import attrs
from attrs.validators import optional

from sched_core.errors import InputError, UnknownName
from sched_core.limits import COUNTS, FRACTIONS, TOKENS, Integers, flag

Batching = Literal["continuous", "static", "padded"]


def batching_mode(name: str) -> Batching:
    """The mode called `name`; raises UnknownName."""
    for mode in get_args(Batching):
        if name == mode:
            return cast("Batching", mode)
    raise UnknownName("batching mode", name, get_args(Batching))


def _known_batching(_: Any, __: Any, value: str) -> None:
    batching_mode(value)


@attrs.frozen(kw_only=True)
class EngineConfig:
    """Limits of one engine. Names and defaults are vLLM's unless said otherwise.

    `None` means "derived": `max_num_seqs` becomes the smaller of 256 and the token budget,
    `max_model_len` the model's context (no limit without a model), `num_gpu_blocks` what fits
    the device memory.
    """

    max_num_batched_tokens: int = attrs.field(default=2048, validator=COUNTS)
    """Token budget: the most tokens one step may compute."""
    max_num_seqs: int | None = attrs.field(default=None, validator=optional(COUNTS))
    """The most requests that may be running at once."""
    max_model_len: int | None = attrs.field(default=None, validator=optional(COUNTS))
    """The longest prompt + output, in tokens."""
    block_size: int = attrs.field(default=16, validator=COUNTS)
    """Tokens in one KV-cache block."""
    num_gpu_blocks: int | None = attrs.field(default=None, validator=optional(COUNTS))
    """Usable blocks on the device."""
    num_cpu_blocks: int = attrs.field(default=0, validator=Integers(0))
    """Blocks in the host swap pool; 0 means that swapping falls back to recompute."""
    gpu_memory_utilization: float = attrs.field(default=0.9, validator=FRACTIONS)
    """Share of the device memory that the engine may use."""
    enable_chunked_prefill: bool = attrs.field(default=True, validator=flag)
    """May a prompt be computed over several steps?"""
    long_prefill_token_threshold: int = attrs.field(default=0, validator=TOKENS)
    """Cap on every chunk while more than one request is in the system; 0 is off."""
    watermark: float = attrs.field(default=0.0, validator=FRACTIONS)
    """Share of the pool that an admission must leave free, unless nothing is running."""
    scheduler_reserve_full_isl: bool = attrs.field(default=True, validator=flag)
    """Admit a request only if its whole known sequence fits, not just its first chunk."""
    batching: Batching = attrs.field(default="continuous", validator=_known_batching)
    """`continuous` recomposes the batch in every step. `static` admits only into an empty batch,
    prefills it whole, then decodes it, and keeps every seat and block until the longest ends.
    `padded` is static and pays for padding: every row computes and reads as much as the longest.
    (Not vLLM's: what came before it.)"""
    enable_prefix_caching: bool = attrs.field(default=False, validator=flag)
    """Reuse full blocks of a common prefix. (vLLM's default is on; here results stay plain
    unless it is asked for.)"""

    def __attrs_post_init__(self) -> None:
        if self.max_num_seqs is not None and self.max_num_batched_tokens < self.max_num_seqs:
            raise InputError(
                "the token budget is below max_num_seqs, so running requests could starve",
                field="max_num_batched_tokens",
                value=self.max_num_batched_tokens,
                expected=f"at least max_num_seqs = {self.max_num_seqs}",
            )
        if not self.enable_chunked_prefill and self.max_num_batched_tokens < (
            self.max_model_len or 0
        ):
            raise InputError(
                "with enable_chunked_prefill off a prompt must fit one step",
                field="max_num_batched_tokens",
                value=self.max_num_batched_tokens,
                expected=f"at least max_model_len = {self.max_model_len}",
            )

    @property
    def seats(self) -> int:
        """The most requests that may run at once, with the default filled in."""
        return (
            min(256, self.max_num_batched_tokens)
            if self.max_num_seqs is None
            else self.max_num_seqs
        )

    def with_capacity(self, num_gpu_blocks: int, max_model_len: int | None) -> Self:
        """This configuration with what the device and the model decide filled in."""
        return attrs.evolve(
            self,
            num_gpu_blocks=self.num_gpu_blocks or num_gpu_blocks,
            max_model_len=self.max_model_len or max_model_len,
            max_num_seqs=self.seats,
        )


def refuse_unsized(config: EngineConfig) -> None:
    """Raise InputError if `config` does not say how many blocks the pool holds."""
    if config.num_gpu_blocks is None:
        raise InputError(
            "missing", field="num_gpu_blocks", expected="a number of KV blocks, such as 1000"
        )
