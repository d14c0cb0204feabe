"""What a check is told, and what it says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import torch

from hwmodels.torch_executor.model.models import built_in

torch.set_num_threads(1)  # what the CPU computes here is small


@attrs.frozen(kw_only=True)
class Setting:
    """On which device, how much, and where files go."""

    device: str
    quick: bool
    """The same code in seconds, on tiny models: to try the program out."""
    folder: Path
    name: str = ""
    """Of the machine, as file names hold it; its files begin with `gpu_check-`."""

    @property
    def on(self) -> torch.device:
        return torch.device(self.device)

    @property
    def cuda(self) -> bool:
        return self.device == "cuda"

    @property
    def tiny_models(self) -> list[str]:
        """Those whose tokens are compared."""
        return [name for name in built_in() if name.startswith("tiny")][: 1 if self.quick else None]

    @property
    def model(self) -> str:
        """The one whose steps are timed."""
        return "tiny-llama" if self.quick else "llama-1b"

    @property
    def dtype(self) -> str:
        return "float32" if self.quick else "bfloat16"

    def file(self, suffix: str) -> Path:
        """Where results go: `gpu_check-NAME.suffix`."""
        return self.folder / f"gpu_check-{self.name}.{suffix}"


@attrs.frozen
class Outcome:
    """What a check found, as plain data."""

    figures: Mapping[str, Any]
    wrong: Sequence[str] = ()
    """What is not as it must be; the check fails where there is any."""
    left_out: Sequence[str] = ()
    """What was not looked at, and why."""


@attrs.frozen
class Check:
    """One check: the function `check(setting) -> Outcome` of `gpu_check.checks.NAME`."""

    name: str
    about: str
    seconds: int
    """Longest it may take; it is stopped then."""

    @property
    def function(self) -> str:
        return f"gpu_check.checks.{self.name}:check"


CHECKS = (
    Check("tokens", "tokens in float64 equal those of generate on the CPU", 100),
    Check("logits", "logits in bfloat16 are as exact as a plain pass", 40),
    Check("late_copies", "a step waits for copies that are late", 40),
    Check("waits", "a step waits for the device only to read its tokens", 30),
    Check("graph_tokens", "CUDA graphs change no token", 40),
    Check("step_times", "times of steps over tokens and batch", 100),
    Check("graph_times", "times of decodes with CUDA graphs and without", 40),
    Check("swap_bandwidth", "how fast blocks are copied", 30),
    Check("calibration", "a price fitted to random mixed steps", 60),
    Check("validation", "two policies, simulated and for real", 120),
    Check("race", "speed beside transformers' continuous batching", 60),
)
"""In this order: what must be right before what is good to know."""
