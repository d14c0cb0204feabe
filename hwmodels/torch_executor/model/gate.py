"""Which models the executor runs exactly: all others are refused at load, with the reason."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

import torch
from torch import Tensor

from hwmodels.torch_executor.step.attention import Call, answered_by
from hwmodels.torch_executor.step.pool import LayerShape
from sched_core import InputError

LAYERS = ("full_attention", "sliding_attention")
ROPES = ("default", "linear", "yarn", "llama3", "proportional")
"""Rotations whose frequencies do not depend on how long a batch's longest request is."""

PASSED_AND_UNUSED = frozenset(
    ("attention_mask", "position_ids", "use_cache", "output_attentions", "output_router_logits")
)
"""Arguments of an attention call that change nothing here: the batch knows the positions."""


def refuse(model: str, reason: str) -> NoReturn:
    """Raise the InputError of a model that would not be run exactly."""
    raise InputError(
        f"the torch executor cannot run {model!r} exactly: {reason}",
        expected="a decoder of causal softmax attention, full or with a sliding window",
    )


def check_config(config: Any, model: str) -> None:
    """Refuse what a configuration shows: other layers, other masks, moving rotations."""
    text = config.get_text_config()
    other = sorted(set(getattr(text, "layer_types", None) or ()) - set(LAYERS))
    if other:
        refuse(model, f"it has layers of type {', '.join(other)}")
    for field in ("attention_chunk_size", "is_encoder_decoder", "use_bidirectional_attention"):
        if getattr(text, field, None):
            refuse(model, f"its configuration has {field} = {getattr(text, field)!r}")
    for rope in sorted(_ropes(text) - set(ROPES)):
        refuse(model, f"its rope_type {rope!r} depends on the longest request of a batch")


def use_eager_experts(config: Any) -> None:
    """Let a mixture of experts run in float64, which transformers' other kernels refuse."""
    config.get_text_config()._experts_implementation = "eager"


def _ropes(text: Any) -> set[str]:
    """All rope types: a configuration has one, or one per type of layer."""
    found = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    nested = [value for value in found.values() if isinstance(value, Mapping)]
    return {str(rope.get("rope_type", "default")) for rope in (nested or [found])}


class Probe:
    """Notes every attention call of a forward pass, and answers zeros."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def attend(self, call: Call) -> Tensor:
        self.calls.append(call)
        heads, tokens = call.query.shape[:2]
        return call.query.new_zeros(tokens, heads, call.value.shape[-1])


def layer_shapes(model: Any, name: str) -> tuple[LayerShape, ...]:
    """What each layer caches; refuses a model that does not call attention once in each layer."""
    calls = _probe(model, name)
    text = model.config.get_text_config()
    counts = Counter(call.layer for call in calls)
    if counts != Counter(range(text.num_hidden_layers)):
        refuse(
            name,
            f"one pass calls attention {len(calls)} times, with layers "
            f"{sorted(counts.elements())}, where each of its {text.num_hidden_layers} layers "
            "should call once",
        )
    for call in calls:
        _check_call(call, text, name)
    ordered = sorted(calls, key=lambda call: call.layer)
    return tuple(LayerShape(c.key.shape[0], c.key.shape[2], c.value.shape[2]) for c in ordered)


def _probe(model: Any, name: str) -> list[Call]:
    probe = Probe()
    positions = torch.arange(2, device=model.device)[None]
    try:
        with torch.inference_mode(), answered_by(probe):
            model(input_ids=torch.zeros_like(positions), position_ids=positions, use_cache=False)
    except Exception as error:  # foreign code, run in a way its authors may not have meant
        refuse(name, f"a packed forward pass fails with {type(error).__name__}: {error}")
    return probe.calls


def _check_call(call: Call, text: Any, name: str) -> None:
    given = {key for key, value in call.other.items() if value is not None}
    if call.other["attention_mask"] is not None:
        refuse(name, "it builds a mask of its own")
    if unknown := sorted(given - PASSED_AND_UNUSED):
        refuse(name, f"its attention takes {', '.join(unknown)}")
    kinds = getattr(text, "layer_types", None)
    slides = kinds is None or kinds[call.layer] == "sliding_attention"
    window = getattr(text, "sliding_window", None) if slides else None
    if call.window != window:
        refuse(
            name,
            f"layer {call.layer} has a window of {window}, but its call says {call.window}",
        )
