"""A model in memory, with what the executor needs to know of it."""

from typing import Any

import attrs
import torch

from hwmodels.torch_executor.step.pool import LayerShape


@attrs.frozen(eq=False)
class LoadedModel:
    """A model ready to run; `models.load` returns those that passed the gate."""

    name: str
    model: Any
    layers: tuple[LayerShape, ...]
    dtype: torch.dtype
    device: torch.device
    source: str

    @property
    def vocab(self) -> int:
        return int(self.model.config.get_text_config().vocab_size)

    @property
    def max_positions(self) -> int | None:
        """Longest context in tokens, where the configuration says it."""
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        return None if limit is None else int(limit)
