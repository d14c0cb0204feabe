"""`schedfw policies new`: a package that passes its own check, for every hook."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command_line import schedfw

from sched_core.policy.binding import HOOKS
from sched_core.testing.checks import CHECKS


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("hook", HOOKS)
def test_a_package_passes_its_own_test(here: Path, hook: str) -> None:
    made = schedfw("policies", "new", "my-edf", "--hook", hook)
    assert made.exit_code == 0, made.stderr
    folder = here / "my-edf"
    assert f"    def {hook}(" in (folder / "my_edf.py").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout
    passed, *_ = done.stdout.splitlines()[-1].split()
    assert int(passed) >= len(CHECKS) - 2


def test_all_hooks_at_once(here: Path) -> None:
    hooks = [part for hook in HOOKS for part in ("--hook", hook)]
    assert schedfw("policies", "new", "edf", *hooks, "--directory", here / "a" / "b").exit_code == 0
    checked = schedfw("policies", "check", here / "a" / "b" / "edf" / "edf.py", "--examples", 2)
    assert checked.exit_code == 0, checked.stdout


def test_what_it_writes(here: Path) -> None:
    made = schedfw("policies", "new", "my-edf")
    files = ["my_edf.py", "pyproject.toml", "tests/test_my_edf.py", "README.md"]
    last = "try it: schedfw policies check my-edf/my_edf.py"
    assert made.stdout.splitlines() == [*(f"my-edf/{name}" for name in files), last]
    written = [path.relative_to(here / "my-edf") for path in (here / "my-edf").rglob("*.*")]
    assert sorted(map(str, written)) == sorted(files)
    project = tomllib.loads((here / "my-edf" / "pyproject.toml").read_text())
    points = project["project"]["entry-points"]["schedfw.policies"]
    assert points == {"my-edf": "my_edf:MyEdf"}
    assert "schedfw compare --policies fcfs,my-edf" in (here / "my-edf" / "README.md").read_text()


def test_the_package_can_be_installed(here: Path) -> None:
    """From what is here: no network, no dependencies."""
    schedfw("policies", "new", "my-edf")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--target", "site", "-q"]
    pip = [sys.executable, "-m", "pip", "install", *options, "./my-edf"]
    subprocess.run(pip, check=True, capture_output=True, timeout=120)
    done = subprocess.run(
        [sys.executable, "-c", "from sched_core.cli import main; main()", "policies", "show",
         "my-edf"],
        env={**os.environ, "PYTHONPATH": "site"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert "from       my-edf 0.1.0" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("edf", "--hook", "effective_prio"), "unknown hook 'effective_prio'; did you mean"),
        (("fcfs",), "field 'name': is a policy of schedfw already (found 'fcfs')"),
        (("random",), "field 'name': is a name of Python or of an installed module"),
        (("class",), "field 'name': is a name of Python"),
        (("attrs",), "or of an installed module (found 'attrs'); expected another name"),
        (("My-Edf",), "field 'name': cannot name a package (found 'My-Edf'); expected lower-case"),
        (("../edf",), "field 'name': cannot name a package (found '../edf')"),
        (("there",), "there: exists already; expected another name or --directory"),
        (("edf", "--directory", "file"), "is a file"),
    ],
)
def test_what_it_refuses(here: Path, arguments: tuple[str, ...], message: str) -> None:
    (here / "there").mkdir()
    (here / "file").write_text("")
    before = sorted(here.rglob("*"))
    result = schedfw("policies", "new", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert sorted(here.rglob("*")) == before
