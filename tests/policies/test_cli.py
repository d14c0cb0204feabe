"""`schedfw policies`: what it lists, shows and refuses."""

import csv
import io
import json
import sys
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner, Result

from sched_core.cli import main
from sched_core.cli.parameters import parameters

CODE = """
import attrs
from sched_core import hookimpl

@attrs.define(eq=False)
class Good:
    '''Serves long prompts first.'''
    factor: float
    priority_moves = "event"

    @hookimpl
    def effective_priority(self, request):
        return -self.factor * request.prompt_len

@attrs.define(eq=False)
class WrongArgument:
    '''Asks for something the hook does not have.'''

    @hookimpl
    def effective_priority(self, request, temperature):
        return temperature

@attrs.define(eq=False)
class WrongMoves:
    '''Moves as nothing moves.'''
    priority_moves = "sometimes"

    @hookimpl
    def effective_priority(self, request):
        return 0
"""

ENTRY_POINTS = """
[schedfw.policies]
good = lab_policies:Good
wrong-argument = lab_policies:WrongArgument
wrong-moves = lab_policies:WrongMoves
not-there = lab_policies:Missing
no-module = lab_nothing:Good
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution `lab` with one good policy and four broken ones."""
    info = tmp_path / "lab-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "lab_policies.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lab_policies", raising=False)


def schedfw(*args: str) -> Result:
    return CliRunner().invoke(main, ["policies", *args], env={"COLUMNS": "100"})


def test_list_names_what_each_decides() -> None:
    result = schedfw("list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["policy", "from", "decides", "what", "it", "is"]
    row = next(line for line in lines if line.startswith("youngest"))
    assert row.split()[1:3] == ["schedfw", "select_victim"]
    assert max(map(len, lines)) <= 100


def test_list_marks_oracles() -> None:
    entries = {
        entry["name"]: entry for entry in json.loads(schedfw("list", "--format=json").stdout)
    }
    oracles = {name for name, entry in entries.items() if entry["oracle"]}
    assert oracles == {"predict-noisy", "predict-oracle"}
    assert entries["sjf"]["decides"] == ["effective_priority", "predict_output"]
    assert entries["sjf"]["observes"] == ["request_finished"]


@pytest.mark.usefixtures("lab")
def test_broken_ones_are_rows_with_their_reason() -> None:
    result = schedfw("list", "--format", "csv")
    assert result.exit_code == 0
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(result.stdout))}
    assert rows["good"]["summary"] == "Serves long prompts first."
    assert not rows["good"]["problem"]
    assert not rows["fcfs"]["problem"]
    reasons = {
        "wrong-argument": "temperature",
        "wrong-moves": "sometimes",
        "not-there": "Missing",
        "no-module": "ModuleNotFoundError",
    }
    for name, reason in reasons.items():
        assert reason in rows[name]["problem"]
        assert rows[name]["distribution"] == "lab"
    assert "cannot be used" in schedfw("list").stdout


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("name", ["wrong-argument", "wrong-moves", "not-there", "no-module"])
def test_showing_a_broken_one_gives_the_reason(name: str) -> None:
    result = schedfw("show", name)
    assert result.exit_code == 2
    assert f"policy '{name}'" in result.stderr
    assert "cannot be used" in result.stderr


@pytest.mark.usefixtures("lab")
def test_show_tells_parameters_and_how_the_key_moves() -> None:
    shown = json.loads(schedfw("show", "good", "--format", "json").stdout)
    assert shown["parameters"] == [
        {"name": "factor", "type": "float", "default": None, "required": True}
    ]
    assert (shown["priority_moves"], shown["version"]) == ("event", "1.2")
    text = schedfw("show", "good").stdout
    assert "must be given" in text
    assert "event: asked again when something happened" in text


def test_show_prints_the_whole_docstring() -> None:
    text = schedfw("show", "predict-noisy").stdout
    assert "oracle     yes" in text
    assert "Rule: truth * exp(sigma * z)" in text
    assert schedfw("show", "priority", "--format", "csv").stdout.splitlines() == [
        "name,type,default,required",
        "aging,float | None,,False",
    ]


def test_an_unknown_name_gets_a_suggestion() -> None:
    result = schedfw("show", "fcsf")
    assert result.exit_code == 2
    assert "unknown policy 'fcsf'; did you mean 'fcfs'?" in result.stderr
    assert result.stdout == ""


@pytest.mark.usefixtures("lab")
def test_show_takes_a_spec() -> None:
    given = ("show", "good:factor=2")
    (factor,) = json.loads(schedfw(*given, "--format", "json").stdout)["parameters"]
    assert (factor["required"], factor["value"]) == (True, 2.0)
    assert schedfw(*given, "--format", "csv").stdout == (
        "name,type,default,required,value\nfactor,float,,True,2.0\n"
    )
    assert ["factor", "float", "must", "be", "given", "2"] in [
        line.split() for line in schedfw(*given).stdout.splitlines()
    ]


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("good:factor=x", "policy 'good': parameter 'factor' does not fit (found 'x')"),
        ("good:facto=2", "policy 'good': unknown parameter 'facto'; did you mean 'factor'?"),
        ("sjf+good", "field 'policy': is a stack (found 'sjf+good'); expected one of its parts"),
    ],
)
def test_show_refuses_what_run_refuses(spec: str, reason: str) -> None:
    result = schedfw("show", spec)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


@attrs.define
class Containers:
    """Defaults that are made anew."""

    of_names: dict[str, int] = attrs.field(factory=dict)
    sizes: list[int] = attrs.Factory(list)
    stamp: object = attrs.field(factory=object)
    half: int = attrs.Factory(lambda self: len(self.sizes) // 2, takes_self=True)


def test_defaults_that_are_made_anew_are_shown_as_values() -> None:
    shown = {p["name"]: p["default"] for p in parameters(Containers)}
    assert shown == {"of_names": "{}", "sizes": "[]", "stamp": "computed", "half": "computed"}
