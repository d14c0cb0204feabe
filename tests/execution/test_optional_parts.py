"""What executors, costs and hardware may offer besides, and what holds where they do not."""

from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import sched_core
from sched_core import (
    Calibrated,
    Described,
    Hardware,
    InputError,
    Measurable,
    StepLoad,
)
from sched_core.catalogue.specs import build
from sched_core.execution.executor import initialize_cache, modelled, pads, record_of, steps_of


class Plain:
    """An executor that offers nothing."""


class Rich:
    """One that offers all."""

    modelled: ClassVar[bool] = True
    pads: ClassVar[bool] = False
    told: tuple[int, int] | None = None

    def initialize_cache(self, num_gpu_blocks: int, num_cpu_blocks: int) -> None:
        self.told = (num_gpu_blocks, num_cpu_blocks)


def test_what_an_executor_does_not_say() -> None:
    executor: Any = Plain()
    assert (modelled(executor), pads(executor)) == (False, True)
    initialize_cache(executor, 5, 2)  # nobody to tell


def test_what_an_executor_says() -> None:
    executor: Any = Rich()
    assert (modelled(executor), pads(executor)) == (True, False)
    initialize_cache(executor, 5, 2)
    assert executor.told == (5, 2)


class Costs:
    def step(self, load: StepLoad) -> float:
        return 1.0

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        return 0.0

    def swap_out(self, blocks: int, beside: StepLoad = sched_core.EMPTY_LOAD) -> float:
        return 0.0

    def swap_in(self, blocks: int, beside: StepLoad = sched_core.EMPTY_LOAD) -> float:
        return 0.0


class Series(Costs):
    def steps(self, load: StepLoad, n: int) -> NDArray[np.float64]:
        return np.ones(n)


class Inheriting(Series):
    """Another word on something else."""

    def recompute(self, tokens: int, beside: StepLoad) -> float:
        return 5.0


class Overriding(Series):
    def step(self, load: StepLoad) -> float:
        return 2.0


class Both(Overriding):
    def steps(self, load: StepLoad, n: int) -> NDArray[np.float64]:
        return np.full(n, 2.0)


class Beside:
    def step(self, load: StepLoad) -> float:
        return 3.0


class Mixed(Beside, Series):
    """The step that counts is that of `Beside`."""


class Wrapping(Costs):
    """Its own step, and whatever else another has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(Series(), name)


@pytest.mark.parametrize("cls", [Series, Inheriting, Both])
def test_many_steps_are_priced_at_once(cls: type[Series]) -> None:
    costs = cls()
    steps = steps_of(costs)
    assert steps is not None
    assert np.array_equal(steps(StepLoad(1, 9), 3), [costs.step(StepLoad())] * 3)


@pytest.mark.parametrize("cls", [Costs, Overriding, Mixed, Wrapping])
def test_never_by_another_word_than_that_of_step(cls: type[Costs]) -> None:
    assert steps_of(cls()) is None


def test_nor_where_one_object_has_a_step_of_its_own() -> None:
    costs = Series()
    costs.step = lambda load: 4.0  # type: ignore[method-assign]
    assert steps_of(costs) is None


def test_costs_that_cannot_be_kept_are_named() -> None:
    with pytest.raises(InputError, match=r"class Costs cannot .* expected .* to_record\(\)"):
        record_of(Costs())


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("constant", [Described]),
        ("a100", [Described, Calibrated]),
        ("torch", [Measurable]),
        ("recorded:path=x", []),
    ],
)
def test_parts_of_hardware_of_ours(spec: str, parts: list[type]) -> None:
    hardware = build("hardware", spec)
    assert isinstance(hardware, Hardware)
    assert [p for p in (Described, Calibrated, Measurable) if isinstance(hardware, p)] == parts
