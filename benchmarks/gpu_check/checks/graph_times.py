"""What CUDA graphs save: decodes with and without them."""

from gpu_check.check import Outcome, Setting
from gpu_check.checks.step_times import REPEATS, decodes, name, timed_runner
from hwmodels.torch_executor.measure import time_steps

BATCHES = (1, 8, 32, 64)
CONTEXTS = (128, 1024)


def check(setting: Setting) -> Outcome:
    """Medians, in seconds."""
    if not setting.cuda:
        return Outcome({}, left_out=["a CPU has no graphs to launch"])
    shapes = [decodes(batch, context) for context in CONTEXTS for batch in BATCHES]
    launched, replayed = (
        time_steps(timed_runner(setting, graphs=graphs), shapes, REPEATS).seconds
        for graphs in (False, True)
    )
    rows = [
        {"step": name(shape), "launched": one, "graph": other, "ratio": one / other}
        for shape, one, other in zip(shapes, launched, replayed, strict=True)
    ]
    return Outcome({"model": setting.model, "dtype": setting.dtype, "steps": rows})
