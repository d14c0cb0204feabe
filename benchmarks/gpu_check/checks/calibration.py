"""A price of steps on this device, as `schedfw hardware calibrate` fits it."""

import attrs

from gpu_check.check import Outcome, Setting
from hwmodels.measured.calibration import read
from hwmodels.torch_executor.hardware import Torch


def check(setting: Setting) -> Outcome:
    """Writes the file that `measured:path=` reads; how exact it is, is for people to judge."""
    path = setting.file("toml")
    path.unlink(missing_ok=True)  # none is better than an old one
    steps, repeats = (20, 1) if setting.quick else (100, 3)
    executor = Torch(device=setting.device, dtype=setting.dtype)
    path.write_text(executor.measure(setting.model, steps=steps, repeats=repeats), "utf-8")
    return Outcome({"file": path.name, **attrs.asdict(read(path))})
