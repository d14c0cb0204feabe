"""What holds for the tree as a whole."""

import ast
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from doc_pages import ROOT

import sched_core
import sched_core.tables
import sched_core.testing
from sched_core.catalogue.entries import plugins

OURS = {"schedfw": ROOT, "schedfw-contrib-policies": ROOT / "contrib_policies"}
PACKAGES = {
    "hwmodels": ROOT / "hwmodels",
    "sched_plugins": ROOT / "plugins" / "sched_plugins",
    "schedfw_pytest": ROOT / "plugins" / "schedfw_pytest",
    "sched_contrib": ROOT / "contrib_policies" / "sched_contrib",
    "examples": ROOT / "examples",
}

MOST_FILES = 14
"""Of Python in one folder, beside `__init__`."""

FACES = (sched_core, sched_core.tables, sched_core.testing)
PUBLIC = {module.__name__: module.__all__ for module in FACES}


@pytest.mark.parametrize(
    "place",
    [
        r"/(work|root|home|Users|opt|mnt|srv)/",  # of one machine
        r"[.]library",
        r"(pypi[.]|python[h]osted|index[-]url|find[-]links)",  # a registry is the user's choice
    ],
)
def test_no_file_names_a_place_of_one_machine(place: str) -> None:
    grep = ["git", "grep", "-n", "-I", "-E", place]
    done = subprocess.run(grep, cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 1:
        pytest.skip(f"not a git checkout: {done.stderr.strip()}")
    assert done.stdout == ""


def imports(package: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """(file, module, names taken from it) of every import."""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((path, alias.name, []) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield path, node.module or "", [alias.name for alias in node.names]


@pytest.mark.parametrize("package", PACKAGES)
def test_plugins_import_public_names_only(package: str) -> None:
    wrong = [
        f"{path}: from {module} import {', '.join(names)}"
        for path, module, names in imports(PACKAGES[package])
        if module.partition(".")[0] == "sched_core"
        and not set(names) <= set(PUBLIC.get(module, ()))
    ]
    assert wrong == []


def test_no_folder_is_a_corridor() -> None:
    homes = [*PACKAGES.values(), *(ROOT / name for name in ("sched_core", "benchmarks", "tests"))]
    rooms = Counter(
        path.parent for home in homes for path in home.rglob("*.py") if path.name != "__init__.py"
    )
    assert {str(folder): n for folder, n in rooms.items() if n > MOST_FILES} == {}


def test_every_entry_point_of_ours_loads() -> None:
    for kind in ("policies", "hardware", "workloads"):
        ours = [plugin for plugin in plugins(kind) if plugin.distribution in OURS]
        assert [(p.name, p.problem) for p in ours if p.problem] == []
        assert sorted(plugin.name for plugin in ours) == sorted(declared(f"schedfw.{kind}")), (
            "the installation is older than pyproject.toml: pip install -e . -e ./contrib_policies"
        )


def declared(group: str) -> list[str]:
    """Entry points in the two pyproject.toml, installed anew or not."""
    return [name for home in OURS.values() for name in project(home)["entry-points"].get(group, {})]


def project(home: Path) -> dict[str, dict[str, dict[str, str]]]:
    table: dict[str, dict[str, dict[str, str]]] = tomllib.loads(
        (home / "pyproject.toml").read_text("utf-8")
    )["project"]
    return table


def test_versions_agree() -> None:
    versions = {str(project(home)["version"]) for home in OURS.values()}
    installed = {distribution(name).version for name in OURS}
    (version,) = versions | installed
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    first = re.search(r"(?m)^## \[?([\d.]+)", changes)
    assert first is not None
    assert first[1] == version
