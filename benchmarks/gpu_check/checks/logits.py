"""Are logits in bfloat16 as exact as rounding lets them be?

In 16 bits tokens are no test: two of them are often so close that the order of a sum decides. So
logits are held against those of the same weights in float64, on the CPU, in one plain pass with
transformers' own eager attention. How far bfloat16 is off, says the same plain pass in bfloat16 on
the device. Ours rounds as often, in another order, so it may be off as far, give or take; a wrong
slot, position or mask makes it off by about as much as logits are large.
"""

import copy
from collections.abc import Iterator
from itertools import count
from typing import Any

import torch
from torch import Tensor

from gpu_check.check import Outcome, Setting
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.model.models import load
from hwmodels.torch_executor.step.forward import logits
from hwmodels.torch_executor.step.packing import pack
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import ScheduledRequest

FACTOR = 2.0
"""How far ours may be off, in errors of the plain pass in bfloat16."""

LENGTH = 96
"""Tokens of every request."""

CHUNKS = (24, 7, 1)
"""How many of them a step computes: a chunk of each of the first two beside a single token."""

BLOCK_SIZE = 16
BLOCKS = LENGTH // BLOCK_SIZE
TABLES = [
    tuple(range(1 + row, 1 + BLOCKS * len(CHUNKS), len(CHUNKS))) for row in range(len(CHUNKS))
]
"""Blocks that lie between each other's."""

Place = tuple[int, int]
"""(request, position)"""


def check(setting: Setting) -> Outcome:
    """Errors are root mean squares, as shares of the logits' own."""
    dense = [name for name in setting.tiny_models if "moe" not in name]
    rows = [_compared(setting, name) for name in dense + ["llama-22m"][setting.quick :]]
    wrong = [
        f"{row['model']}: off by {row['paged']:.3g}, a plain pass by {row['plain']:.3g}"
        for row in rows
        if not row["paged"] <= FACTOR * row["plain"]  # NaN is wrong too
    ]
    left_out = ["mixtures of experts: where two are as good, rounding chooses"]
    return Outcome({"factor_allowed": FACTOR, "errors": rows}, wrong, left_out)


def _compared(setting: Setting, name: str) -> dict[str, Any]:
    loaded = load(name, dtype="bfloat16", device=setting.on, seed=0)
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(0, loaded.vocab, (len(CHUNKS), LENGTH), generator=generator)
    with torch.inference_mode():
        places, paged = _paged(loaded, tokens)
        exact, plain = (
            torch.stack([logits[place] for place in places])
            for logits in (
                _plain(copy.deepcopy(loaded.model).to("cpu", torch.float64), tokens),
                _plain(copy.deepcopy(loaded.model), tokens),
            )
        )
    size = exact.square().mean().sqrt()
    plain_error, paged_error = (
        float((found - exact).square().mean().sqrt() / size) for found in (plain, paged)
    )
    return {"model": name, "rows": len(places), "plain": plain_error, "paged": paged_error}


def _plain(model: Any, tokens: Tensor) -> Tensor:
    """`[requests, length, vocabulary]` by transformers alone; in float64, on the CPU."""
    model.set_attn_implementation("eager")
    rows = [model(input_ids=row[None].to(model.device), use_cache=False).logits for row in tokens]
    return torch.cat(rows).cpu().double()


def _paged(loaded: LoadedModel, tokens: Tensor) -> tuple[list[Place], Tensor]:
    """The logits at the ends of all chunks, `[places, vocabulary]`, with NaN where nobody wrote."""
    pool = KVPool(loaded.layers, BLOCK_SIZE, loaded.dtype, loaded.device, fill=torch.nan)
    pool.reserve(len(CHUNKS) * BLOCKS, 0)
    known = {str(row): ids.tolist() for row, ids in enumerate(tokens)}
    places: list[Place] = []
    found = []
    for shares in _steps():
        batch = pack(shares, known, BLOCK_SIZE, loaded.device)
        found.append(logits(loaded.model, pool, batch).cpu().double())
        places += [(int(s.id), s.num_computed_tokens + s.num_tokens - 1) for s in batch.sampled]
    return places, torch.cat(found)


def _steps() -> Iterator[list[ScheduledRequest]]:
    """Every request by chunks of its own size, all that are not done side by side."""
    for step in count():
        shares = [
            ScheduledRequest(str(row), min(chunk, LENGTH - step * chunk), step * chunk, table, True)
            for row, (chunk, table) in enumerate(zip(CHUNKS, TABLES, strict=True))
            if step * chunk < LENGTH
        ]
        if not shares:
            return
        yield shares
