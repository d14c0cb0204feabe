"""A model in float64, cut to its first layers: there a wrong read cannot pass for rounding."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Any

import attrs
import torch
from torch import nn

from hwmodels.torch_executor.model.gate import use_eager_experts
from hwmodels.torch_executor.model.loaded import LoadedModel


def in_float64(loaded: LoadedModel, *, whole: bool) -> LoadedModel:
    """A copy on the CPU: `whole`, or as many of the first layers as show every kind of layer."""
    with nullcontext(len(loaded.layers)) if whole else _only_first(loaded.model) as count:
        copied = copy.deepcopy(loaded.model, _weights(loaded.model))
    use_eager_experts(copied.config)
    return attrs.evolve(
        loaded,
        model=copied,
        layers=loaded.layers[:count],
        dtype=torch.float64,
        device=torch.device("cpu"),
    )


def _weights(model: Any) -> dict[int, Any]:
    """Copies of all weights, for `deepcopy` to take: the device may have no room for others."""
    copies: dict[int, Any] = {}
    for weight in chain(model.parameters(), model.buffers()):
        kind = torch.float64 if weight.is_floating_point() else weight.dtype
        moved = weight.detach().to("cpu", kind, copy=True)
        is_parameter = isinstance(weight, nn.Parameter)
        copies[id(weight)] = nn.Parameter(moved, requires_grad=False) if is_parameter else moved
    return copies


@contextmanager
def _only_first(model: Any) -> Iterator[int]:
    """Take the other layers out while a copy is made; says how many are left."""
    config = model.config.get_text_config()
    owner, name, layers = _layers(model, config.num_hidden_layers)
    count = _enough([_kind(config, index, layer) for index, layer in enumerate(layers)])
    setattr(owner, name, nn.ModuleList(list(layers)[:count]))
    config.num_hidden_layers = count
    try:
        yield count
    finally:
        setattr(owner, name, layers)
        config.num_hidden_layers = len(layers)


def _layers(model: Any, count: int) -> tuple[Any, str, nn.ModuleList]:
    """(the module that holds the list of layers, under which name, the list)"""
    for owner in model.modules():
        for name, child in owner.named_children():
            if isinstance(child, nn.ModuleList) and len(child) == count:
                return owner, name, child
    raise ValueError(f"it holds no list of {count} layers")


def _kind(config: Any, index: int, layer: Any) -> tuple[object, ...]:
    """What tells a layer from others: its own of every list in the configuration, its weights."""
    listed = sorted(
        (key, repr(value[index]))
        for key, value in config.to_dict().items()
        if isinstance(value, list) and len(value) == config.num_hidden_layers
    )
    weights = sorted((name, weight.shape) for name, weight in layer.named_parameters())
    return *listed, *weights


def _enough(kinds: Sequence[object]) -> int:
    """How many of the first hold one of every kind; two, so that layers could be mixed up."""
    return max(*(kinds.index(kind) + 1 for kind in kinds), min(2, len(kinds)))
