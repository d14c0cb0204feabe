"""Every way in which a plugin can fail to load: a row with the reason, and exit 2 if chosen."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from command_line import schedfw
from installed import Site

HEAD = """
import abc, attrs
from sched_core import hookimpl

"""

CLASS = (
    HEAD
    + """
@attrs.define(eq=False)
class Policy:
    '''A policy.'''
"""
)


def method(signature: str, marker: str = "@hookimpl") -> str:
    return f"{CLASS}\n    {marker}\n    def {signature}:\n        return None\n"


BROKEN = {
    "an import fails": (
        "import nothing_of_this_name\n",
        "ModuleNotFoundError: No module named 'nothing_of_this_name'",
    ),
    "the module exits": ("raise SystemExit('no licence')\n", "SystemExit: no licence"),
    "the class is missing": (HEAD, "AttributeError: module 'lab' has no attribute 'Policy'"),
    "it is not an attrs class": (
        f"{HEAD}\nclass Policy:\n    '''Plain.'''\n",
        "lab:Policy is not an attrs class; decorate it with @attrs.define",
    ),
    "it is a function": (
        f"{HEAD}\ndef Policy():\n    '''A policy.'''\n",
        "lab:Policy is not an attrs class; decorate it with @attrs.define",
    ),
    "a hook is misspelt": (
        method("effective_prioritty(self, request)"),
        "unknown hook 'effective_prioritty'; did you mean 'effective_priority'? (known: can_admit,",
    ),
    "an argument is unknown": (
        method("chunk_size(self, view, tokens)"),
        "hook 'chunk_size': unknown argument 'tokens' (known: limit, request, view)",
    ),
    "an argument has a default": (
        method("chunk_size(self, limit=512)"),
        "hook 'chunk_size': 'limit' has a default or is keyword-only, so it is never filled",
    ),
    "an argument is keyword-only": (
        method("chunk_size(self, *, limit)"),
        "hook 'chunk_size': 'limit' has a default or is keyword-only, so it is never filled",
    ),
    "no method is marked": (
        method("chunk_size(self, limit)", marker="#"),
        "it implements no hook; mark chunk_size with @hookimpl of sched_core",
    ),
    "one method of two is not marked": (
        method("chunk_size(self, limit)")
        + "\n    def step_budget(self, view):\n        return 9\n",
        "method 'step_budget' is not marked and would never be called; mark it with @hookimpl of "
        "sched_core, or rename it",
    ),
    "an override loses the mark": (
        f"{method('chunk_size(self, limit)').replace('Policy', 'Base')}\n"
        "    @hookimpl\n    def step_budget(self, view):\n        return None\n\n"
        "@attrs.define(eq=False)\nclass Policy(Base):\n"
        "    def chunk_size(self, limit):\n        return 1\n",
        "method 'chunk_size' is not marked and would never be called",
    ),
    "the mark is another project's": (
        method("chunk_size(self, limit)", marker="@__import__('pluggy').HookimplMarker('x')"),
        "it implements no hook; mark chunk_size with @hookimpl of sched_core",
    ),
    "there is no method": (
        f"{CLASS}\n    size: int = 3\n",
        "it implements no hook; mark its methods with @hookimpl of sched_core",
    ),
    "a hook is a wrapper": (
        f"{CLASS}\n    @hookimpl(wrapper=True)\n    def step_budget(self):\n"
        "        return (yield)\n",
        "hook 'step_budget' is a wrapper, which a bound hook cannot have",
    ),
    "the key moves in no known way": (
        method("effective_priority(self)") + "    priority_moves = 'sometimes'\n",
        "priority_moves is 'sometimes'; it must be one of ('static', 'clock', 'event', 'time')",
    ),
}


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=list(BROKEN))
def test_a_plugin_that_cannot_be_loaded(site: Site, code: str, reason: str) -> None:
    site.install("lab", code, {"mine": "lab:Policy"})
    listed = schedfw("policies", "list", "--format", "json")
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert listed.exit_code == 0
    assert rows["fcfs"]["problem"] is None
    assert (rows["mine"]["distribution"], rows["mine"]["version"]) == ("lab", "1.0")
    assert reason in rows["mine"]["problem"]
    for arguments in (("run", "--policy", "fcfs+mine"), ("policies", "show", "mine")):
        chosen = schedfw(*arguments)
        assert (chosen.exit_code, chosen.stdout) == (2, "")
        assert "'mine'" in chosen.stderr
        assert reason in chosen.stderr


def test_a_parameter_may_be_named_like_a_hook(site: Site) -> None:
    code = method("step_budget(self, view)") + "    chunk_size: int = 3\n"
    site.install("lab", code, {"mine": "lab:Policy"})
    for arguments in (("policies", "show", "mine"), ("run", "--policy", "mine:chunk_size=4")):
        assert schedfw(*arguments).exit_code == 0


def build_raises(statement: str) -> str:
    code = method("chunk_size(self, limit)")
    return f"{code}\n    def __attrs_post_init__(self):\n        {statement}\n"


UNBUILDABLE = {
    "it raises": (build_raises("raise OSError('no model file')"), "OSError: no model file"),
    "it exits": (build_raises("raise SystemExit(0)"), "SystemExit: 0"),
    "it is abstract": (
        HEAD
        + "@attrs.define(eq=False)\nclass Policy(abc.ABC):\n    @hookimpl\n"
        + "    @abc.abstractmethod\n    def chunk_size(self, limit): ...\n",
        "Can't instantiate abstract class Policy",
    ),
}


@pytest.mark.parametrize(("code", "reason"), UNBUILDABLE.values(), ids=list(UNBUILDABLE))
def test_a_class_that_cannot_be_built(site: Site, code: str, reason: str) -> None:
    site.install("lab", code, {"mine": "lab:Policy"})
    chosen = schedfw("run", "--policy", "mine")
    assert (chosen.exit_code, chosen.stdout) == (2, "")
    assert f"policy 'mine': cannot be built from its defaults: {reason}" in chosen.stderr


def test_a_name_in_two_distributions_is_chosen_by_distribution(site: Site) -> None:
    code = method("chunk_size(self, limit)")
    site.install("lab-a", code, {"mine": "lab_a:Policy"})
    site.install("lab-b", code, {"mine": "lab_b:Policy"})
    rows = json.loads(schedfw("policies", "list", "--format", "json").stdout)
    assert [r["distribution"] for r in rows if r["name"] == "mine"] == ["lab-a", "lab-b"]
    chosen = schedfw("run", "--policy", "mine")
    assert chosen.exit_code == 2
    assert ("policy 'mine' is ambiguous; choose one of lab-a/mine, lab-b/mine") in chosen.stderr
    asked = ("run", "--policy", "lab-b/mine+fcfs", "--workload", "poisson:n=5", "--format", "json")
    (result,) = json.loads(schedfw(*asked).stdout)["policies"]
    assert result["components"]["effective_priority"] == ["fcfs"]


def test_a_distribution_found_twice_counts_once(
    site: Site, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install("lab", method("chunk_size(self, limit)"), {"mine": "lab:Policy"})
    twin = tmp_path_factory.mktemp("twin")
    shutil.copytree(site.path, twin, dirs_exist_ok=True)
    for path in (twin, site.path):
        monkeypatch.syspath_prepend(path)
    rows = json.loads(schedfw("policies", "list", "--format", "json").stdout)
    assert [row["name"] for row in rows].count("mine") == 1
    chosen = schedfw("run", "--policy", "mine", "--workload", "poisson:n=5")
    assert (chosen.exit_code, chosen.stderr) == (0, "")


def test_two_entry_points_of_one_name_in_one_distribution_are_ambiguous(site: Site) -> None:
    site.install("lab", method("chunk_size(self, limit)"), {"mine": "lab:Policy"})
    points = site.path / "lab-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text() + "mine = lab:Other\n")
    chosen = schedfw("run", "--policy", "mine")
    assert chosen.exit_code == 2
    assert "'mine' is ambiguous" in chosen.stderr


def test_metadata_without_name_or_version(site: Site) -> None:
    site.install("lab", method("chunk_size(self, limit)"), {"mine": "lab:Policy"})
    (site.path / "lab-1.0.dist-info" / "METADATA").unlink()
    rows = json.loads(schedfw("policies", "list", "--format", "json").stdout)
    (mine,) = [row for row in rows if row["name"] == "mine"]
    assert (mine["distribution"], mine["version"], mine["problem"]) == ("?", "?", None)


@pytest.mark.parametrize("target", ["lab policy", "lab:", ":Policy"])
def test_an_entry_point_that_names_nothing(site: Site, target: str) -> None:
    site.install("lab", method("chunk_size(self, limit)"), {"mine": target})
    listed = schedfw("policies", "list", "--format", "json")
    (mine,) = [row for row in json.loads(listed.stdout) if row["name"] == "mine"]
    assert mine["problem"]
    assert schedfw("run", "--policy", "mine").exit_code == 2


def test_what_a_test_installs_is_gone_afterwards() -> None:
    assert "lab" not in sys.modules
    assert not any(Path(path, "lab.py").exists() for path in sys.path)
