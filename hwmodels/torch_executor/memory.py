"""How much memory is left for the cache."""

import gc
import os

import torch

from hwmodels.torch_executor.attention import answered_by
from hwmodels.torch_executor.gate import Probe
from hwmodels.torch_executor.loaded import LoadedModel

PADDING = 2
"""A read is padded to at most this many times its length: `batch.Group`."""


def free_bytes(loaded: LoadedModel, utilization: float, tokens: int) -> int:
    """Bytes for K and V when steps compute up to `tokens` tokens.

    A step may read all of them in one layer at a time, to memory of its own, which is left free.
    """
    layers = len(loaded.layers)
    return _usable_bytes(loaded, utilization, tokens) * layers // (layers + PADDING)


def _usable_bytes(loaded: LoadedModel, utilization: float, tokens: int) -> int:
    """CUDA: that share of the memory, less what is in use and the measured peak of such a step.
    CPU: that share of the machine's, less the weights; others use it too, so better say a number.
    """
    if loaded.device.type != "cuda":
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        weights = sum(parameter.nbytes for parameter in loaded.model.parameters())
        return int(physical * utilization) - int(weights)
    gc.collect()  # the pool of the run before
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(loaded.device)
    return int(free - total * (1 - utilization)) - _peak_bytes(loaded, tokens)


def _peak_bytes(loaded: LoadedModel, tokens: int) -> int:
    """Most bytes of activations of a step of `tokens` tokens, but for its attention."""
    ids = torch.zeros((1, tokens), dtype=torch.long, device=loaded.device)
    positions = torch.arange(tokens, device=loaded.device)[None] % (loaded.max_positions or tokens)
    before = torch.cuda.memory_allocated(loaded.device)
    torch.cuda.reset_peak_memory_stats(loaded.device)
    with torch.inference_mode(), answered_by(Probe()):
        loaded.model(input_ids=ids, position_ids=positions, use_cache=False, logits_to_keep=1)
    return int(torch.cuda.max_memory_allocated(loaded.device)) - int(before)
