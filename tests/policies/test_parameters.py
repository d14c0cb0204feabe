"""Every built-in names itself, its parameters and its mistakes."""

import attrs
import pytest

from sched_core import InputError, SchedfwError, UnknownName
from sched_core.catalogue.entries import plugins
from sched_core.policy.stack import Policy

BUILT_IN = [plugin for plugin in plugins("policies") if plugin.distribution == "schedfw"]


@pytest.mark.parametrize("plugin", BUILT_IN, ids=[plugin.name for plugin in BUILT_IN])
def test_each_says_its_rule_and_how_it_fails(plugin: object) -> None:
    cls = plugin.cls  # type: ignore[attr-defined]
    text = cls.__doc__
    assert "Rule: " in text
    assert "Fails by: " in text
    for field in attrs.fields(cls):
        assert not field.init or f"`{field.alias}`" in text
    assert len(text.splitlines()[0]) <= 52
    assert text.splitlines()[1] == ""


@pytest.mark.parametrize(
    "spec",
    [
        "priority:aging=0",
        "priority:aging=inf",
        "priority-aging:period=-1",
        "priority-aging:period=soon",
        "sjf:prior=0",
        "predict-noisy:sigma=-0.1",
        "predict-noisy:sigma=nan",
        "predict-noisy:seed=1.5",
        "skip-ahead:max_bypasses=-1",
        "skip-ahead:window=0",
        "cost-aware:penalty=-1",
        "chunk:size=0",
        "fill-tile:tile=0",
    ],
)
def test_bad_values_name_policy_parameter_and_value(spec: str) -> None:
    name, parameter, value = spec.replace("=", ":").split(":")
    with pytest.raises(InputError) as caught:
        Policy.from_spec(spec)
    message = str(caught.value)
    assert all(part in message for part in (f"'{name}'", parameter, value)), message


def test_unknown_parameters_are_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"'priority-aging'.*'periode'.*did you mean 'period'"):
        Policy.from_spec("priority-aging:periode=3")


def test_parameters_belong_to_one_run() -> None:
    first, second = Policy.from_spec("skip-ahead"), Policy.from_spec("skip-ahead")
    assert first.hooks["select_admissions"].calls != second.hooks["select_admissions"].calls


def test_a_component_may_stand_once_in_a_stack() -> None:
    with pytest.raises(SchedfwError, match="twice"):
        Policy.from_spec("fcfs+fcfs")
