"""A policy's file and the modules beside it: each its own, and as they are now."""

import json
from pathlib import Path

import pytest
from command_line import schedfw, small

from sched_core import InputError, Scenario
from sched_core.catalogue.entries import find
from sched_core.experiment.experiment import run_all
from sched_core.experiment.prepare import Prepared, prepare

POLICY = """
from __future__ import annotations
import attrs
from sched_core import hookimpl
from helpers import Base, sign


@attrs.define
class Mine(Base):
    @hookimpl
    def effective_priority(self, request):
        from lazy import key
        return sign() * key(request)
"""
HELPERS = """
from __future__ import annotations
from typing import Literal
import attrs

def sign():
    return 1

@attrs.define
class Base:
    kind: Literal["a", "b"] = "a"
"""
SCENARIO = Scenario(workload="poisson:n=20:request_rate=50")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two folders with files of the same names, of which the second turns the order round."""
    monkeypatch.chdir(tmp_path)
    for name, number in (("one", "1"), ("two", "-1")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mine.py").write_text(POLICY)
        (folder / "helpers.py").write_text(HELPERS.replace("return 1", f"return {number}"))
        (folder / "lazy.py").write_text("def key(request):\n    return request.prompt_len\n")


def finishes(*arguments: object) -> list[list[float]]:
    answer = small("compare", *arguments, "--format", "json")
    assert answer.exit_code == 0, answer.stderr
    entries = json.loads(answer.stdout)["policies"]
    return [[row["finish"] for row in entry["requests"]] for entry in entries]


def test_neighbours_of_one_name_are_two() -> None:
    one, two = finishes("--policies", "one/mine.py,two/mine.py:Mine:kind=b")
    assert one != two
    assert finishes("--policies", "two/mine.py,one/mine.py") == [two, one]
    assert finishes("--policies", "one/mine.py,two/mine.py", "--jobs", 2) == [one, two]


def test_a_neighbour_hides_no_module_of_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "one" / "random.py").write_text("raise RuntimeError")
    (tmp_path / "one" / "helpers.py").write_text(HELPERS + "\nimport random\n")
    assert schedfw("policies", "show", "one/mine.py").exit_code == 0


def test_neighbours_may_be_packages_and_import_each_other(tmp_path: Path) -> None:
    package = tmp_path / "one" / "lab"
    package.mkdir()
    (package / "__init__.py").write_text("from .parts import sign\nimport helpers\n")
    (package / "parts.py").write_text("import lab.signs\ndef sign(): return lab.signs.MINUS\n")
    (package / "signs.py").write_text("MINUS = -1\n")
    file = tmp_path / "one" / "mine.py"
    file.write_text(POLICY.replace("Base, sign", "Base\nfrom lab import sign"))
    one, two = finishes("--policies", "one/mine.py,two/mine.py")
    assert one == two
    held = find("policies", "one/mine.py").files
    names = ["helpers.py", "lab/__init__.py", "lab/parts.py", "lab/signs.py", "mine.py"]
    assert [path.removeprefix("one/") for path in held if "lazy" not in path] == names


def prepared(policy: str) -> Prepared:
    return prepare(SCENARIO, [policy])


def key(policy: str) -> str:
    return prepared(policy).cells[0].key


def test_a_neighbour_counts_for_the_key_and_is_read_again(tmp_path: Path) -> None:
    first = key("one/mine.py")
    assert key("two/mine.py") != first
    (tmp_path / "two" / "helpers.py").write_text(HELPERS)
    assert key("two/mine.py") == first
    setting = prepared("two/mine.py").setting["policy_files"]
    assert list(setting) == ["two/helpers.py", "two/mine.py"]


def test_a_file_that_changes_in_the_middle_ends_the_comparison(tmp_path: Path) -> None:
    ready = prepare(SCENARIO, ["fcfs", "one/mine.py"], seeds=2)
    other = HELPERS.replace("return 1", "return 2")
    with pytest.raises(InputError, match=r"^one/helpers.py: has changed since this comparison"):
        run_all(ready, on_result=lambda _: (tmp_path / "one" / "helpers.py").write_text(other))


@pytest.mark.parametrize(
    ("helpers", "message"),
    [
        ("x = 1\ny = 1 / 0\n", "one/helpers.py, line 2: one/mine.py cannot be loaded: ZeroDiv"),
        ("x = (\n", "one/helpers.py, line 1: one/mine.py cannot be loaded: SyntaxError: '('"),
        ("", "one/mine.py, line 5: it cannot be loaded: ImportError: cannot import name 'Base'"),
        ("import nothing_of_this_name\n", "one/helpers.py, line 1: one/mine.py cannot be loaded"),
    ],
)
def test_where_it_fails_is_said(tmp_path: Path, helpers: str, message: str) -> None:
    (tmp_path / "one" / "helpers.py").write_text(helpers)
    answer = schedfw("run", "--policy", "one/mine.py")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"schedfw: error: {message}")


def test_a_file_that_failed_may_be_mended(tmp_path: Path) -> None:
    file = tmp_path / "one" / "mine.py"
    file.write_text("import attrs\n1 / 0\n")
    assert schedfw("policies", "show", "one/mine.py").exit_code == 2
    file.write_text(POLICY)
    assert schedfw("policies", "show", "one/mine.py").exit_code == 0


def test_a_helper_class_without_hooks_is_no_choice(tmp_path: Path) -> None:
    helper = "\n@attrs.define\nclass Helper:\n    x: int = 0\n"
    (tmp_path / "one" / "mine.py").write_text(POLICY + helper)
    assert find("policies", "one/mine.py").name == "one/mine.py:Mine"


def test_the_kit_finds_a_file_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other processes may have been started in another folder."""
    assert schedfw("policies", "check", "one/mine.py", "--examples", 1).exit_code == 0
    monkeypatch.chdir(tmp_path / "two")
    assert schedfw("policies", "check", "mine.py", "--examples", 1).exit_code == 0
    assert schedfw("policies", "check", "../one/mine.py", "--examples", 1).exit_code == 0


def test_what_building_one_prints_is_no_output(tmp_path: Path) -> None:
    loud = "    def __attrs_post_init__(self):\n        print('loud')\n"
    (tmp_path / "one" / "mine.py").write_text(POLICY + loud)
    answer = small("run", "--policy", "one/mine.py", "--format", "json")
    json.loads(answer.stdout)
    assert "loud" in answer.stderr
