"""The parameters of `torch`, and what they may be."""

from typing import Any

import attrs

from sched_core import InputError, limits

DEVICES = "auto (CUDA where there is one), cpu, cuda or cuda:NUMBER"


def _given(default: Any, about: str, validator: Any = None) -> Any:
    return attrs.field(default=default, validator=validator, metadata={"about": about})


def _file(about: str) -> Any:
    return attrs.field(default="", metadata={"about": about, "file": True})


def _clock(instance: "Settings", field: "attrs.Attribute[Any]", value: str) -> None:
    if value not in ("wall", "cpu"):
        raise InputError("unknown", field=field.name, value=value, expected="wall or cpu")
    if value == "cpu" and instance.threads != 1:
        raise InputError(
            "the CPU time of a step is known for one thread only",
            field="threads",
            value=instance.threads,
            expected="1 with clock=cpu",
        )


@attrs.frozen(kw_only=True)
class Settings:
    """On what steps are run, in which numbers, and by which clock they are timed."""

    device: str = _given("auto", DEVICES)
    dtype: str = _given("auto", "auto (the checkpoint's), float64, float32, bfloat16 or float16")
    seed: int = _given(0, "of weights, prompts and draws", limits.SEEDS)
    threads: int = _given(0, "CPU threads; 0 leaves torch's choice", limits.Integers(0, 1024))
    clock: str = _given("wall", "wall, or cpu: without the time that other processes took", _clock)
    cuda_graphs: bool = _given(
        False, "run decodes as CUDA graphs, padded to powers of two: fewer launches", limits.flag
    )
    temperature: float = _given(
        0.0, "0 takes the likeliest token, more draws with the seed", limits.Numbers(0, 1e6)
    )
    costs: str = _file("file by hardware calibrate, for policies that compare costs")
    prompts: str = _file("JSONL of texts by request id; without it prompts are random tokens")
