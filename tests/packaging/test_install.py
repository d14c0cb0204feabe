"""The wheels, installed beside nothing of this tree: the built-ins, a second and a third package.

What they depend on is borrowed from this environment, so nothing is downloaded; `.ci/run` does the
same in a new environment.
"""

import csv
import io
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from doc_pages import ROOT

EXAMPLE = "examples/shortest-prompt"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    example = shutil.copytree(ROOT / EXAMPLE, tmp_path_factory.mktemp("source") / "example")
    pip("wheel", "--no-build-isolation", "-w", folder, ROOT, ROOT / "contrib_policies", example)
    return folder


@pytest.fixture(scope="module")
def scripts(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the three wheels."""
    home = tmp_path_factory.mktemp("environment")
    builder = venv.EnvBuilder(symlinks=True)
    builder.create(home)
    where = {"base": str(home), "platbase": str(home)}
    scripts = Path(sysconfig.get_path("scripts", vars=where))
    borrowed = Path(sysconfig.get_path("purelib", vars=where)) / "borrowed.pth"
    borrowed.write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    pip("--python", scripts / "python", "install", *wheels.iterdir())
    return scripts


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    no_network = {**os.environ, "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1"}
    subprocess.run([*command, *map(str, arguments)], check=True, env=no_network, timeout=120)


def run(scripts: Path, *arguments: str) -> str:
    """What the installed `schedfw` prints, far from the sources."""
    done = subprocess.run(
        [scripts / "schedfw", *arguments],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_wheel_holds_its_packages_and_no_more(wheels: Path) -> None:
    top = {}
    for wheel in wheels.iterdir():
        names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
        top[wheel.name.partition("-")[0]] = {n for n in names if not n.endswith(".dist-info")}
    assert top == {
        "schedfw": {"schedfw", "sched_core", "hwmodels", "sched_plugins", "schedfw_pytest"},
        "schedfw_contrib_policies": {"sched_contrib"},
        "shortest_prompt": {"shortest_prompt.py"},
    }


def test_installed_policies_have_names(scripts: Path) -> None:
    rows = csv.DictReader(io.StringIO(run(scripts, "policies", "list", "--format", "csv")))
    found = {row["name"]: (row["distribution"], row["problem"]) for row in rows}
    assert found["fcfs"] == ("schedfw", "")
    assert found["vtc"] == ("schedfw-contrib-policies", "")
    assert found["shortest-prompt"] == ("shortest-prompt", "")


def test_installed_policies_run_side_by_side(scripts: Path) -> None:
    names = "fcfs,shortest-prompt,vtc,shortest-prompt+swap"
    printed = run(
        scripts, "compare", "--policies", names, "--workload", "poisson:n=50", "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert list(dict.fromkeys(row["policy"] for row in rows)) == names.split(",")
    assert {row["state"] for row in rows} == {"finished"}


def test_the_code_that_ran_is_the_installed_one(scripts: Path) -> None:
    done = subprocess.run(
        [scripts / "python", "-c", "import sched_core, sched_contrib, shortest_prompt as s\n"
         "print(sched_core.__file__, sched_contrib.__file__, s.__file__)"],
        cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert all(path.startswith(str(scripts.parent)) for path in done.stdout.split())
