"""The gate's last test: a model's logits over paged memory against those of a plain pass."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from hwmodels.torch_executor.model.float64_copy import in_float64
from hwmodels.torch_executor.model.gate import refuse
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.step.forward import logits
from hwmodels.torch_executor.step.packing import pack
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import InputError, ScheduledRequest

TOLERANCE = 1e-3
"""Largest difference allowed, as a share of the logits' standard deviation. (transformers' eager
attention and most norms compute in float32 in a float64 model too.)"""

BLOCK_SIZE = 4
LONGEST_WINDOW = 256
"""A window up to this is outgrown in the check; of a wider one only the width is compared."""

CHUNKS = ((7, 1), (1, 5), (1, 1), (3, 2), (1, 1))
"""Tokens of the two requests, step by step and over again."""


def check_logits(loaded: LoadedModel) -> None:
    """Refuse a model that computes something else in packed chunks over paged memory."""
    try:
        error = _relative_error(loaded)
        if loaded.dtype in (torch.float16, torch.bfloat16) and math.isfinite(error):
            error = _relative_error_in_float64(loaded)
    except (torch.OutOfMemoryError, MemoryError) as problem:
        raise InputError(f"no memory is left to check {loaded.name!r}: {problem}") from None
    except Exception as problem:  # foreign code, run in a way its authors may not have meant
        refuse(loaded.name, f"a short run fails with {type(problem).__name__}: {problem}")
    if not error <= TOLERANCE:  # NaN, of a slot that it should not read, is refused too
        refuse(
            loaded.name,
            f"its logits over paged memory differ from those of a plain pass by {error:.2g} of "
            f"their standard deviation, where {TOLERANCE:g} is rounding",
        )


def _relative_error_in_float64(loaded: LoadedModel) -> float:
    """Of a copy: in 16 bits rounding hides much, and sends tokens to other experts."""
    try:
        return _relative_error(in_float64(loaded, whole=False))
    except Exception:  # some models know how many layers they have in more than one place
        return _relative_error(in_float64(loaded, whole=True))


def _relative_error(loaded: LoadedModel) -> float:
    tokens = _tokens(loaded)
    with torch.inference_mode():
        expected = _plain(loaded, tokens)
        return _worst_difference(loaded, tokens, expected) / float(expected.std())


def _tokens(loaded: LoadedModel) -> Tensor:
    """`[2, length]` random tokens, longer than any window that is not too long."""
    window = getattr(loaded.model.config.get_text_config(), "sliding_window", None) or 0
    length = (window if window <= LONGEST_WINDOW else 0) + 21
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, loaded.vocab, (2, length), generator=generator)


def _plain(loaded: LoadedModel, tokens: Tensor) -> Tensor:
    """`[2, length, vocabulary]` by transformers' own eager attention."""
    model, implementation = loaded.model, loaded.model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        ids = tokens.to(model.device)
        rows = [model(input_ids=row[None], use_cache=False).logits for row in ids]
    finally:
        model.set_attn_implementation(implementation)
    return torch.cat(rows).double()


def _worst_difference(loaded: LoadedModel, tokens: Tensor, expected: Tensor) -> float:
    """Largest difference to `expected` at the ends of all chunks."""
    known = {str(row): ids.tolist() for row, ids in enumerate(tokens)}
    pool = KVPool(loaded.layers, BLOCK_SIZE, loaded.dtype, loaded.device, fill=torch.nan)
    pool.reserve(2 * tokens.shape[1], 0)
    worst = []
    for shares in _steps(tokens.shape[1]):
        batch = pack(shares, known, BLOCK_SIZE, loaded.device)
        rows = logits(loaded.model, pool, batch).double()
        for share, row in zip(batch.sampled, rows, strict=True):
            end = share.num_computed_tokens + share.num_tokens - 1
            worst.append((row - expected[int(share.id), end]).abs().max())
    return float(torch.stack(worst).max())


def _steps(length: int) -> Iterator[list[ScheduledRequest]]:
    """Both requests from 0 to `length` tokens; one holds the odd blocks, one the even ones."""
    blocks = -(-length // BLOCK_SIZE)
    computed, step = [0, 0], 0
    while min(computed) < length:
        shares = []
        for row, tokens in enumerate(CHUNKS[step % len(CHUNKS)]):
            if count := min(tokens, length - computed[row]):
                table = tuple(2 * block + 1 + row for block in range(blocks))
                shares.append(ScheduledRequest(str(row), count, computed[row], table, samples=True))
                computed[row] += count
        yield shares
        step += 1
