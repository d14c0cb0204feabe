"""One forward pass of a packed batch over the pool."""

from typing import Any

from torch import Tensor

from hwmodels.torch_executor.step.attention import PagedAttention, answered_by
from hwmodels.torch_executor.step.packing import PackedBatch
from hwmodels.torch_executor.step.pool import KVPool


def logits(model: Any, pool: KVPool, batch: PackedBatch) -> Tensor:
    """`[sampled, vocabulary]`, through the model's own head, which keeps its scales and caps.

    K and V of every token of the batch are in the pool afterwards.
    """
    with answered_by(PagedAttention(pool, batch)):
        out = model(
            input_ids=batch.tokens,
            position_ids=batch.positions,
            use_cache=False,
            logits_to_keep=batch.last,
        )
    result: Tensor = out.logits[0]
    return result
