"""What the runs are held against is itself held against the model, called token by token."""

import torch
from torch_runs import model

from hwmodels.torch_executor.testing import generated


def test_no_token_of_a_prompt_is_hidden() -> None:
    """Token 0 stands for padding elsewhere."""
    loaded, prompt = model("tiny-llama"), (0, 7, 0, 0, 31, 5, 0)
    found = generated(loaded, prompt, 8)
    loaded.model.set_attn_implementation("eager")
    try:
        tokens = list(prompt)
        for _ in range(8):
            logits = loaded.model(torch.tensor([tokens]), use_cache=False).logits
            tokens.append(int(logits[0, -1].argmax()))
    finally:
        loaded.model.set_attn_implementation("schedfw_paged")
    assert list(found) == tokens[len(prompt) :]
