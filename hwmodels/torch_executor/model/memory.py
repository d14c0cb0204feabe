"""How much memory a model leaves for the cache."""

import gc
import os

import torch

from hwmodels.torch_executor.model.gate import Probe
from hwmodels.torch_executor.model.loaded import LoadedModel
from hwmodels.torch_executor.step.attention import answered_by

PADDING = 2
"""A read is padded to at most this many times its length: `packing.Group`."""


def free_bytes(loaded: LoadedModel, utilization: float, tokens: int) -> int:
    """Bytes for K and V when steps compute up to `tokens` tokens.

    A step may read all of them in one layer at a time, to memory of its own, which is left free.
    """
    layers = len(loaded.layers)
    return _usable_bytes(loaded, utilization, tokens) * layers // (layers + PADDING)


def _usable_bytes(loaded: LoadedModel, utilization: float, tokens: int) -> int:
    """CUDA: that share of the memory, less what is in use and the peak of such a step. CPU: that
    share of what the machine has free at the moment.
    """
    if loaded.device.type != "cuda":
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * utilization)
    gc.collect()  # the pool of the run before
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info(loaded.device)
    peak = _peak_bytes(loaded, tokens) + _mask_bytes(loaded, tokens)
    return int(free - total * (1 - utilization)) - peak


def _peak_bytes(loaded: LoadedModel, tokens: int) -> int:
    """Most bytes of activations of a step of `tokens` tokens, but for its attention."""
    ids = torch.zeros((1, tokens), dtype=torch.long, device=loaded.device)
    positions = torch.arange(tokens, device=loaded.device)[None] % (loaded.max_positions or tokens)
    before = torch.cuda.memory_allocated(loaded.device)
    torch.cuda.reset_peak_memory_stats(loaded.device)
    with torch.inference_mode(), answered_by(Probe()):
        loaded.model(input_ids=ids, position_ids=positions, use_cache=False, logits_to_keep=1)
    return int(torch.cuda.max_memory_allocated(loaded.device)) - int(before)


def _mask_bytes(loaded: LoadedModel, tokens: int) -> int:
    """The largest mask: of a chunk of `tokens` at the end of the longest context."""
    heads = loaded.model.config.get_text_config().num_attention_heads
    shared = heads // min(layer.kv_heads for layer in loaded.layers)
    longest = loaded.max_positions or tokens
    return int(tokens * longest * shared * loaded.dtype.itemsize)
