"""The entry point `torch` stands in the list, and says what is missing when it is used."""

import subprocess
import sys

import pytest

from hwmodels.torch_executor.hardware import Torch
from sched_core import InputError

WITHOUT = """
import sys
sys.modules["torch"] = None  # as if it were not installed
from hwmodels.torch_executor.hardware import Torch
Torch().executor("tiny-llama", block_size=16)
"""


def test_what_is_missing_is_named() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert "PluginLoadError: hardware 'torch' needs torch: pip install 'schedfw[torch]'" in last


def test_a_model_must_be_named() -> None:
    with pytest.raises(InputError, match="needs a model"):
        Torch().executor(None, block_size=16)


@pytest.mark.parametrize(
    ("name", "value"),
    [("threads", -1), ("threads", 2**40), ("seed", 2**63), ("temperature", float("nan"))],
)
def test_numbers_out_of_range_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"'{name}'.*out of range.*from 0 to"):
        Torch(**{name: value})


def test_cpu_time_is_for_one_thread() -> None:
    assert Torch(threads=1, clock="cpu").clock == "cpu"
    with pytest.raises(InputError, match="one thread only"):
        Torch(clock="cpu")
    with pytest.raises(InputError, match="expected wall or cpu"):
        Torch(clock="sun")
