"""The entry point `torch` stands in the list, and says what is missing when it is used."""

import sys

import pytest

from hwmodels.torch_executor.hardware import Torch
from sched_core import InputError, PluginLoadError


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "hwmodels.torch_executor.setup", raising=False)
    with pytest.raises(PluginLoadError, match=r"needs torch: pip install 'schedfw\[torch\]'"):
        Torch().executor("tiny-llama", block_size=16)


def test_a_model_must_be_named() -> None:
    with pytest.raises(InputError, match="needs a model"):
        Torch().executor(None, block_size=16)


def test_negative_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="'threads'"):
        Torch(threads=-1)


def test_cpu_time_is_for_one_thread() -> None:
    assert Torch(threads=1, clock="cpu").clock == "cpu"
    with pytest.raises(InputError, match="one thread only"):
        Torch(clock="cpu")
    with pytest.raises(InputError, match="expected wall or cpu"):
        Torch(clock="sun")
