"""On what the checks run."""

import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from gpu_check.check import Setting


def describe(setting: Setting) -> dict[str, Any] | None:
    """The device, and all versions; None where there is no such device."""
    if setting.cuda and not torch.cuda.is_available():
        return None
    here = str(Path(__file__).parent)
    return {
        **(_cuda(setting.on) if setting.cuda else {"name": "cpu"}),
        "torch": torch.__version__,
        **{package: version(package) for package in ("transformers", "numpy", "schedfw")},
        "commit": _said(["git", "-C", here, "describe", "--always", "--dirty"]),
    }


def _cuda(device: torch.device) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(device)
    return {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "memory_bytes": properties.total_memory,
        "multiprocessors": properties.multi_processor_count,
        "driver": _said(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def _said(command: Sequence[str]) -> str | None:
    """The first line that a command prints; None where it cannot be run."""
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip().partition("\n")[0]


def file_name(name: str, *, quick: bool) -> str:
    """`NVIDIA H200` as `nvidia-h200`, with `-quick` behind where the figures are for nobody."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{plain}-quick" if quick else plain
