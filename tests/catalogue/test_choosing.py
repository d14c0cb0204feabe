"""Which plugin a name means, what is loaded for it, and which names can be told apart."""

import json
import shutil
import sys
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path

import attrs
import pytest
from command_line import schedfw, small
from installed import Site

from hwmodels.measured.calibration import Calibration, Memory
from hwmodels.measured.linear_costs import LinearCosts
from sched_core import InputError, PluginLoadError, Scenario, UnknownName, simulate
from sched_core.catalogue import entries
from sched_core.catalogue.configure import configure
from sched_core.catalogue.entries import find, plugins
from sched_core.catalogue.specs import build, split_stack
from sched_core.experiment.scenario import DEFAULT_HARDWARE, DEFAULT_POLICY, DEFAULT_WORKLOAD
from sched_core.policy.stack import Policy
from sched_core.watchers.step_times import StepTimes

POLICY = """
import attrs
from sched_core import hookimpl

@attrs.define(eq=False)
class Policy:
    '''A policy.'''

    @hookimpl
    def chunk_size(self, limit):
        return limit
"""


def test_choosing_one_imports_no_other(site: Site) -> None:
    site.install("lab", POLICY, {"mine": "lab:Policy"})
    site.install("lab-loud", f"print('hello')\n{POLICY}", {"loud": "lab_loud:Policy"})
    site.install("lab-exits", "import os\nos._exit(7)\n", {"exits": "lab_exits:Policy"})
    for arguments in (("run", "--policy", "fcfs+mine"), ("policies", "show", "mine")):
        done = site.schedfw(*arguments, "--format", "json")
        assert (done.returncode, done.stderr) == (0, "")
        json.loads(done.stdout)
    done = site.schedfw("run", "--policy", "fcfs+mien")
    assert done.returncode == 2
    assert "did you mean 'mine'? (known: " in done.stderr
    assert "exits" in done.stderr


@pytest.mark.parametrize("kind", ["policies", "hardware", "workloads"])
def test_each_part_of_a_stack_loads_one_entry_point(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    load = EntryPoint.load
    monkeypatch.setattr(
        EntryPoint, "load", lambda entry: (loaded.append(entry.name), load(entry))[1]
    )
    if kind == "policies":
        Policy.from_spec("sjf+predict-noisy:sigma=0.4+skip-ahead+youngest+swap")
        assert loaded == ["sjf", "predict-noisy", "skip-ahead", "youngest", "swap"]
    else:
        find(kind, "constant")
        assert loaded == ["constant"]


def test_metadata_are_read_again_only_where_something_was_installed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(group: str) -> EntryPoints:
        read.append(group)
        return entry_points(group=group)

    monkeypatch.setattr(entries, "entry_points", counted)
    for _ in range(3):
        find("policies", "fcfs")
    assert read == ["schedfw.policies"]
    site.install("lab", POLICY, {"mine": "lab:Policy"})
    for _ in range(3):
        find("policies", "mine")
    assert read == ["schedfw.policies"] * 2
    shutil.rmtree(site.path / "lab-1.0.dist-info")
    with pytest.raises(UnknownName):
        find("policies", "mine")
    monkeypatch.setattr(sys, "path", [str(site.path)])
    with pytest.raises(UnknownName, match="known: none"):
        find("policies", "fcfs")


def test_what_a_module_prints_while_it_loads_goes_to_stderr(site: Site) -> None:
    site.install("lab-loud", f"print('hello')\n{POLICY}", {"loud": "lab_loud:Policy"})
    for arguments in (("policies", "list"), ("run", "--policy", "loud")):
        done = site.schedfw(*arguments, "--format", "json")
        assert (done.returncode, done.stderr) == (0, "hello\n")
        json.loads(done.stdout)


def test_a_name_of_ours_may_clash(site: Site) -> None:
    site.install("lab", POLICY, {"fcfs": "lab:Policy"})
    asked = ("run", "--format", "json", "--policy")
    refused = small(*asked, "fcfs")
    assert refused.exit_code == 2
    assert "policy 'fcfs' is ambiguous; choose one of lab/fcfs, schedfw/fcfs" in refused.stderr
    for spec, label, decides in (
        ("schedfw/fcfs", "fcfs", "effective_priority"),
        ("lab/fcfs", "lab/fcfs", "chunk_size"),
    ):
        (result,) = json.loads(small(*asked, spec).stdout)["policies"]
        assert result["policy"] == label
        assert next(iter(result["components"].items())) == (decides, [label])
    assert ", lab/fcfs, " in (unknown := schedfw("run", "--policy", "fcsf").stderr)
    assert ", schedfw/fcfs, " in unknown


def test_a_default_never_clashes(site: Site) -> None:
    site.install("lab", POLICY, {"fcfs": "lab:Policy"})
    (result,) = json.loads(small("run", "--format", "json").stdout)["policies"]
    assert (result["policy"], result["components"]) == ("fcfs", {"effective_priority": ["fcfs"]})


@pytest.fixture
def namesakes(site: Site) -> None:
    """Another distribution that has all names of ours."""
    names = {
        kind: {plugin.name: "lab:Policy" for plugin in plugins(kind)}
        for kind in ("policies", "hardware", "workloads")
    }
    site.install("lab", POLICY, **names)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A file of `hardware calibrate --out`."""
    costs, memory = LinearCosts(c0=1e-3, token=2e-5), Memory(whole=10**9, taken=0, per_token=0)
    found = Calibration(
        model="tiny", costs=costs, setting={}, error={"held_out": 0.1}, block_size=16,
        kv_bytes_per_token=100, memory=memory,
    )  # fmt: skip
    path = tmp_path / "machine.toml"
    path.write_text(found.to_toml())
    return path


@pytest.mark.usefixtures("namesakes")
@pytest.mark.parametrize(
    ("kind", "spec"),
    [("policies", DEFAULT_POLICY), ("hardware", DEFAULT_HARDWARE), ("workloads", DEFAULT_WORKLOAD)],
)
def test_every_default_names_its_distribution(kind: str, spec: str) -> None:
    build(kind, spec)
    with pytest.raises(PluginLoadError, match="is ambiguous"):
        build(kind, spec.removeprefix("schedfw/"))


@pytest.mark.usefixtures("namesakes")
def test_replayed_times_never_clash(machine: Path, tmp_path: Path) -> None:
    times, workload = tmp_path / "times.jsonl", "schedfw/poisson:n=5"
    measured = Scenario(
        hardware=f"schedfw/measured:path={machine}", model="tiny", workload=workload
    )
    with times.open("w") as file:
        simulate(measured, watchers=[StepTimes(file.write)])
    asked = ("run", "--replay-times", times, "--workload", workload)
    report = json.loads(schedfw(*asked, "--format", "json").stdout)
    assert report["setting"]["hardware"]["spec"] == f"recorded:path={times}"
    with pytest.raises(UnknownName, match=r"^hardware 'recorded': unknown parameter"):
        build("hardware", "schedfw/recorded:paths=x")


@pytest.mark.usefixtures("namesakes")
def test_what_is_measured_against_never_clashes(machine: Path) -> None:
    asked = ("hardware", "validate", machine, "--executor", "schedfw/constant:step=0.01")
    done = schedfw(*asked, "--model", "tiny", "--rounds", 1, "--format", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["workload"] == "poisson:n=60:prompt_len=16..512:output_len=8..64"
    labels = ["fcfs", "sjf+predict-oracle", "chunk:size=64"]
    assert list(dict.fromkeys(row["policy"] for row in found["figures"])) == labels
    assert all(list(row["simulated"]) == labels for row in found["rankings"])


def test_reports_leave_the_distribution_of_schedfw_out() -> None:
    asked = ("--hardware", "schedfw/constant:step=1", "--workload", "schedfw/poisson:n=5")
    policies = ("--policies", "schedfw/fcfs,schedfw/sjf+schedfw/swap")
    printed = schedfw("compare", *asked, *policies, "--num-gpu-blocks=900", "--format=json")
    assert "schedfw/" not in printed.stdout
    report = json.loads(printed.stdout)
    assert [result["policy"] for result in report["policies"]] == ["fcfs", "sjf+swap"]
    setting = report["setting"]
    assert setting["hardware"]["spec"] == "constant:step=1"
    assert setting["workload"]["spec"] == "poisson:n=5"
    twice = schedfw("compare", "--policies", "fcfs,schedfw/fcfs")
    assert (twice.exit_code, "given twice" in twice.stderr) == (2, True)


def test_names_that_two_distributions_share_are_known_with_them(site: Site) -> None:
    for name in ("lab-a", "lab-b"):
        site.install(name, POLICY, {"mine": f"{name.replace('-', '_')}:Policy"})
    with pytest.raises(UnknownName, match="did you mean 'lab-b/mine'") as caught:
        find("policies", "lab-c/mine")
    assert ", lab-a/mine, lab-b/mine, " in str(caught.value)


def test_one_component_under_two_names_stands_twice() -> None:
    with pytest.raises(InputError, match="a component stands twice in the stack"):
        Policy.from_spec("fcfs+schedfw/fcfs")


STACKS = {
    "sjf+adaptive": ["sjf", "adaptive"],
    "fcfs+2q": ["fcfs", "2q"],
    "2q+fcfs": ["2q", "fcfs"],
    "mlfq2+2q": ["mlfq2", "2q"],
    "lab/2q+3": ["lab/2q", "3"],
    "a:x=1e+5": ["a:x=1e+5"],
    "a:x=2.E+5+2q:y=+3": ["a:x=2.E+5", "2q:y=+3"],
    "a:x=3+2q": ["a:x=3", "2q"],
    "a:x=age+2q": ["a:x=age", "2q"],
    "fcfs+": ["fcfs", ""],
    "fcfs++sjf": ["fcfs", "", "sjf"],
}


@pytest.mark.parametrize(("spec", "parts"), STACKS.items())
def test_a_plus_stacks_but_within_a_number(spec: str, parts: list[str]) -> None:
    assert split_stack(spec) == parts


def test_a_name_may_start_with_a_digit(site: Site) -> None:
    site.install("lab", POLICY, {"2q": "lab:Policy"})
    assert [name for name, _ in Policy.from_spec("fcfs+2q").components] == ["fcfs", "2q"]


@pytest.mark.parametrize("name", ["c++", "a+b", "a:b", "a/b", "a,b", "a b"])
def test_a_name_that_no_spec_can_hold_is_a_row_with_the_reason(site: Site, name: str) -> None:
    site.install("lab", POLICY, {name: "lab:Policy"})
    rows = json.loads(schedfw("policies", "list", "--format", "json").stdout)
    (row,) = [row for row in rows if row["distribution"] == "lab"]
    assert row["problem"].startswith("its name cannot stand in a spec string")
    assert name not in schedfw("run", "--policy", "nobody").stderr


@pytest.mark.parametrize("spec", ["fcfs+", "+fcfs", "fcfs++sjf", ""])
def test_an_empty_part_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="empty name"):
        Policy.from_spec(spec)


LATER = """
from __future__ import annotations
import attrs
from typing import TYPE_CHECKING, Literal
from sched_core import hookimpl
if TYPE_CHECKING:
    from sched_core import RequestView
    from nowhere import Seconds

@attrs.define(eq=False)
class Policy:
    '''Types as text.'''
    slo: float
    tiles: list[int] | None = None
    order: Literal["up", "down"] = "up"
    wait: Seconds = 0
    _seen: dict[str, RequestView] = attrs.field(init=False, factory=dict)

    @hookimpl
    def chunk_size(self, limit):
        return limit
"""
HEIR = """
import attrs
from lab import Policy as Base

@attrs.define(eq=False)
class Policy(Base):
    '''Its parameters are annotated in another module.'''
"""


@pytest.fixture
def later(site: Site) -> None:
    site.install("lab", LATER, {"later": "lab:Policy"})
    site.install("lab-heir", HEIR, {"heir": "lab_heir:Policy"})


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("name", ["later", "heir"])
def test_annotations_may_be_text(name: str) -> None:
    built = build("policies", f"{name}:slo=2:order=down")
    assert (built.slo, built.order) == (2.0, "down")
    assert isinstance(built.slo, float)
    with pytest.raises(InputError, match=r"'slo' does not fit \(found 'x'\); expected a number"):
        build("policies", f"{name}:slo=x")
    with pytest.raises(InputError, match=r"'order' does not fit .* expected up or down"):
        build("policies", f"{name}:slo=2:order=left")


@pytest.mark.usefixtures("later")
def test_an_annotation_that_names_nothing_is_told() -> None:
    with pytest.raises(PluginLoadError) as caught:
        build("policies", "heir:slo=2:wait=3")
    assert str(caught.value) == (
        "policy 'heir': parameter 'wait' has no known type: annotation 'Seconds' of Policy.wait: "
        "name 'Seconds' is not defined"
    )


def test_without_an_annotation_a_value_stays_text() -> None:
    plain = attrs.make_class("Plain", {"size": attrs.field()})
    assert configure(plain, {"size": "3"}, where="here").size == "3"


OTHERS = """
from __future__ import annotations
import attrs
from typing import Optional

@attrs.frozen
class Thing:
    '''Hardware, or a workload.'''
    step: float = 1.0
    most: Optional["int"] = None
"""


@pytest.mark.parametrize("kind", ["hardware", "workloads"])
def test_annotations_may_be_text_in_every_kind(kind: str, site: Site) -> None:
    site.install("lab", OTHERS, {}, **{kind: {"thing": "lab:Thing"}})
    built = build(kind, "thing:step=2:most=3")
    assert (built.step, built.most) == (2.0, 3)
    with pytest.raises(InputError, match=r"found '1\.5'\); expected an integer"):
        build(kind, "thing:most=1.5")
