"""Components handed over by Python: copied from their parameters, sent, and counted in keys."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from typing import Any

import attrs
import numpy as np
import pytest

from sched_core import (
    InputError,
    PluginLoadError,
    RequestView,
    Scenario,
    UsageError,
    compare,
    hookimpl,
    simulate,
)
from sched_core.catalogue.entries import plugins
from sched_core.catalogue.given import Given
from sched_core.experiment.prepare import prepare
from sched_core.testing import check_policy

SCENARIO = Scenario(workload="poisson:n=20:request_rate=50")


@attrs.define
class Weighed:
    """Longest prompt first, by a weight."""

    priority_moves = "static"
    weights: Any = attrs.field(factory=dict)
    _seen: int = attrs.field(init=False, default=0)

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        self._seen += 1
        return -request.prompt_len


@attrs.define
class Halves(Weighed):
    share: float = attrs.field(default=1.0, converter=lambda share: share / 2)


@attrs.define
class Splits(Weighed):
    names: Any = attrs.field(default="a,b", converter=lambda text: text.split(","))


def key(policy: object) -> str:
    return prepare(SCENARIO, [policy]).cells[0].key


def test_every_installed_component_can_be_built_anew() -> None:
    """From the parameters of an instance, whatever their converters made of them."""
    built = 0
    for plugin in plugins("policies"):
        if not plugin.problem:
            instance = plugin.cls()
            assert Given.of(instance).build() is not instance
            built += 1
    assert built > 20


def test_an_instance_counts_as_it_was_handed_over() -> None:
    weights = {"a": 1}
    given = Given.of(Weighed(weights))
    weights["a"] = 2
    one, other = given.build(), given.build()
    assert one.weights == {"a": 1}
    one.weights["a"] = 3
    assert other.weights == {"a": 1}


@pytest.mark.parametrize(
    ("instance", "why"),
    [
        (Halves(share=4.0), "parameter 'share' is then 1.0, not 2.0"),
        (Splits(names="x,y"), "cannot be built from names=['x', 'y']: AttributeError"),
        (Weighed(Lock()), "a parameter cannot be copied: cannot pickle '_thread.lock'"),
    ],
)
def test_what_cannot_be_built_anew_is_refused_by_name(instance: Any, why: str) -> None:
    with pytest.raises(
        PluginLoadError, match=f"^policy '{type(instance).__name__}' cannot be"
    ) as e:
        compare(SCENARIO, [instance])
    assert why in str(e.value)


def test_arrays_and_generators_are_parameters_too() -> None:
    for value in (np.arange(3), np.random.default_rng(7), {1, 2}):
        assert compare(SCENARIO, [Weighed(value)]).results[0].summary["finished"] == 20


def test_keys_tell_parameters_apart() -> None:
    values: list[Any] = [{}, {"a": 1}, {"a": 2}, {1: 2}, [1], {1}, "a", 1, np.arange(2), Path("x")]
    assert len({key(Weighed(value)) for value in values}) == len(values)
    assert key(Weighed({"a": 1, "b": 2})) == key(Weighed({"b": 2, "a": 1}))
    assert key(Weighed) == key(Weighed())


def test_a_class_that_nobody_can_read_has_no_key() -> None:
    names: dict[str, Any] = {"__name__": "typed_in"}
    exec("import attrs\nfrom sched_core import hookimpl\n@attrs.define\nclass Typed:\n"
         "    @hookimpl\n    def can_admit(self): return True\n", names)  # fmt: skip
    ready = prepare(SCENARIO, [names["Typed"]])
    assert ready.setting["policy_files"] == {"typed_in:Typed": None}
    with pytest.raises(InputError, match="the source of policy 'Typed' cannot be read"):
        assert ready.cells[0].key


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ("fcfs", "field 'policies': is no list (found 'fcfs'); expected one such as"),
        (Weighed, "field 'policies': is no list (found <class"),
        ([()], "field 'policy': is empty (found ()); expected a name such as fcfs"),
        ([3], "field 'policy': not a component (found 3); expected a name such as fcfs, an attrs"),
        ([lambda: None], "field 'policy': not a component"),
        ([("fcfs", Weighed, Weighed())], "a component stands twice in the stack (found 'fcfs+Wei"),
    ],
)
def test_what_is_no_policy(policies: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        compare(SCENARIO, policies)
    assert message in str(error.value)


def test_a_scenario_holds_one() -> None:
    scenario = attrs.evolve(SCENARIO, policy=("skip-ahead", Weighed({"a": 1})))
    assert simulate(scenario).results[0].policy == "skip-ahead+Weighed:weights={'a': 1}"


def test_the_kit_takes_instances_and_stacks() -> None:
    checked = check_policy(("chunk:size=3", Weighed({"a": 1})), examples=2)
    assert {one.status for one in checked if one.check.startswith("E6")} == {"pass"}


SCRIPT = """
import attrs
from sched_core import Scenario, compare, hookimpl

@attrs.define
class Last:
    factor: float = 1.0

    @hookimpl
    def effective_priority(self, request):
        print("asked")
        return -request.arrival * self.factor

if __name__ == "__main__":
    scenario = Scenario(workload="poisson:n=20:request_rate=50")
    one, two = (compare(scenario, ["fcfs", Last(2)], jobs=jobs).document() for jobs in (1, 2))
    assert one == two
    print(one["policies"][1]["policy"])
"""


def test_a_class_of_a_script_goes_to_other_processes(tmp_path: Path) -> None:
    script = tmp_path / "study.py"
    script.write_text(SCRIPT.replace('        print("asked")\n', ""))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "Last:factor=2\n"), done.stderr


def test_a_class_of_a_module_that_is_on_no_path_goes_there_too(tmp_path: Path) -> None:
    file = tmp_path / "nowhere.py"
    file.write_text(SCRIPT.replace('        print("asked")\n', ""))
    spec = spec_from_file_location("nowhere", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["nowhere"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        one, two = (compare(SCENARIO, ["fcfs", module.Last], jobs=jobs) for jobs in (1, 2))
        assert one.document() == two.document()
    finally:
        del sys.modules["nowhere"]


def test_what_cannot_be_sent_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"field 'jobs'.*policy 'Weighed:weights=.*cannot be sent"):
        compare(SCENARIO, ["fcfs", Weighed(Copies())], jobs=2)


class Copies:
    """Can be copied, and not pickled."""

    def __deepcopy__(self, _: object) -> "Copies":
        return self

    def __reduce__(self) -> Any:
        raise TypeError("stays at home")
