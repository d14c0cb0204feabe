"""Policies that are not installed: classes in files, and what Python hands over."""

import json
from pathlib import Path

import attrs
import pytest
from command_line import schedfw, small
from harness import requests

from sched_core import InputError, PolicyError, RequestView, Scenario, Workload, compare, hookimpl
from sched_core.experiment.prepare import prepare
from sched_core.reports.report import Report

EDF = """
import attrs
from sched_core import hookimpl


@attrs.define
class Edf:
    '''Earliest deadline first.'''

    priority_moves = "static"
    slack: float = 0.0

    @hookimpl
    def effective_priority(self, request):
        return (request.deadline or 1e9) - self.slack
"""


@pytest.fixture
def edf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "edf.py"
    file.write_text(EDF)
    return file


@attrs.define
class Last:
    """Last come, first served."""

    by: float = 1.0
    seen: list[str] = attrs.field(init=False, factory=list)

    @hookimpl
    def effective_priority(self, request: RequestView) -> float:
        self.seen.append(request.id)
        return -request.arrival * self.by


SCENARIO = Scenario(workload=Workload(requests("a(16,4,@0) b(16,4,@1) c(16,4,@2)")))


def finishes(report: Report) -> list[list[float]]:
    return [[row["finish"] for row in entry["requests"]] for entry in report.document()["policies"]]


def test_a_class_in_a_file_is_a_policy(edf: Path) -> None:
    answer = small("compare", "--policies", "fcfs,./edf.py:Edf:slack=2", "--format", "json")
    assert answer.exit_code == 0, answer.stderr
    report = json.loads(answer.stdout)
    assert [entry["policy"] for entry in report["policies"]] == ["fcfs", "./edf.py:Edf:slack=2"]
    named = report["policies"][1]["components"]["effective_priority"]
    assert named == ["./edf.py:Edf"]
    (digest,) = report["setting"]["policy_files"].values()
    assert len(digest) == 64
    assert "(sha256 " in small("run", "--policy", "./edf.py").stdout


def test_it_stands_in_stacks_and_in_other_commands(edf: Path) -> None:
    assert small("run", "--policy", "./edf.py:Edf+adaptive").exit_code == 0
    shown = schedfw("policies", "show", "./edf.py:Edf")
    assert "Earliest deadline first." in shown.stdout
    checked = schedfw("policies", "check", "./edf.py", "--examples", "5", "-v")
    assert "contract" in checked.stdout


def test_a_scenario_file_finds_it_beside_itself(edf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "lifo.py").write_text(EDF.replace("Edf", "Lifo"))
    keys = {"policy": "./lifo.py:Lifo+adaptive", "requests": {"workload": "poisson:n=5"}}
    (folder / "run.json").write_text(json.dumps(keys))
    answer = schedfw("run", "runs/run.json", "--format", "json")
    assert answer.exit_code == 0, answer.stderr
    assert json.loads(answer.stdout)["policies"][0]["policy"] == "runs/lifo.py:Lifo+adaptive"


@pytest.mark.parametrize(
    ("keys", "options", "shown"),
    [
        ({"config": {"policy": "./edf.py"}}, (), "runs/edf.py"),
        ({"policy": "../edf.py:Edf:slack=3+fcfs"}, (), "edf.py:Edf:slack=3+fcfs"),
        ({"policy": "{here}/edf.py+swap"}, (), "{here}/edf.py+swap"),
        ({"policy": "./edf.py"}, ("--policy", "./edf.py:Edf"), "./edf.py:Edf"),
    ],
)
def test_paths_are_seen_from_the_scenario_and_options_from_here(
    edf: Path, tmp_path: Path, keys: dict[str, object], options: tuple[str, ...], shown: str
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "edf.py").write_text(EDF)
    text = json.dumps({**keys, "requests": {"workload": "poisson:n=5"}})
    (folder / "run.json").write_text(text.replace("{here}", str(tmp_path)))
    answer = schedfw("run", "runs/run.json", *options, "--format", "json")
    assert answer.exit_code == 0, answer.stderr
    (entry,) = json.loads(answer.stdout)["policies"]
    assert entry["policy"] == shown.replace("{here}", str(tmp_path))


def test_several_processes_load_it_too(edf: Path) -> None:
    arguments = ("compare", "--policies", "fcfs,./edf.py", "--seeds", "2", "--format", "json")
    one, two = small(*arguments), small(*arguments, "--jobs", "2")
    assert one.exit_code == 0, one.stderr
    assert one.stdout == two.stdout


def test_the_key_of_a_run_holds_the_content_and_no_path(edf: Path, tmp_path: Path) -> None:
    def key(policy: str) -> str:
        return prepare(SCENARIO, [policy]).cells[0].key

    first = key("./edf.py:Edf")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "edf.py").write_text(EDF)
    assert key("other/edf.py:Edf") == first
    edf.write_text(EDF.replace("1e9", "1e8"))
    assert key("./edf.py:Edf") != first


def test_files_of_one_name_are_two_and_may_have_neighbours(edf: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "far_away.py").write_text("FAR = 5.0")
    (folder / "edf.py").write_text("from far_away import FAR\n" + EDF.replace("1e9", "FAR"))
    answer = small("compare", "--policies", "./edf.py,other/edf.py")
    assert answer.exit_code == 0, answer.stderr


@pytest.mark.parametrize(
    ("policy", "content", "message"),
    [
        ("./ed.py:Edf", "", "./ed.py: there is no such file; did you mean 'edf.py'?"),
        ("./x.py:Edg", EDF, "./x.py: unknown class 'Edg'; did you mean 'Edf'? (known: Edf)"),
        (
            "./x.py",
            "",
            "./x.py: it defines 0 components (none); say which one, as in ./x.py:Edf",
        ),
        (
            "./x.py",
            EDF + EDF.replace("Edf", "Edg"),
            "./x.py: it defines 2 components (Edf, Edg); say which one, as in ./x.py:Edf",
        ),
        (
            "./x.py:Edf",
            "class Edf: pass",
            "./x.py: Edf is not an attrs class; decorate it with @attrs.define",
        ),
        ("./x.py", "a = 1\nb = a / 0", "./x.py, line 2: it cannot be loaded: ZeroDivisionError:"),
        ("./x.py", "a = (\n", "./x.py, line 1: it cannot be loaded: SyntaxError: '(' was never"),
        ("./x.py:Edf:slak=2", EDF, "unknown parameter 'slak'; did you mean 'slack'?"),
        ("./x.py:Edf:slack=soon", EDF, "parameter 'slack' does not fit (found 'soon')"),
        (
            "./x.py:Edf",
            EDF.replace("effective_priority", "effective_prio"),
            "unknown hook 'effective_prio'; did you mean 'effective_priority'?",
        ),
        ("./x.py:EDF", "EDF = 3", "./x.py: EDF is not an attrs class"),
        ("./x.py:", EDF, "field 'policy': not a parameter (found '')"),
        ("./x.py", EDF + "raise SystemExit(4)", "line 16: it cannot be loaded: SystemExit: 4"),
        ("./x", EDF, "is no Python file (found './x'); expected a path that ends in .py, without"),
        ("./c++/x.py", EDF, "is no Python file (found './c'); expected a path that ends in .py"),
        ("C:\\lab\\x.py:Edf", EDF, "C:\\lab\\x.py: there is no such file"),
        ("./x.py+./x.py", EDF, "a component stands twice in the stack (found './x.py+./x.py')"),
    ],
)
def test_what_cannot_be_used_is_one_message(
    edf: Path, policy: str, content: str, message: str
) -> None:
    if content or policy == "./x.py":
        edf.with_name("x.py").write_text(content)
    answer = small("run", "--policy", policy)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_what_it_prints_as_it_loads_is_no_output(edf: Path) -> None:
    edf.write_text("print('hello')" + EDF)
    answer = small("run", "--policy", "./edf.py", "--format", "json")
    json.loads(answer.stdout)
    assert "hello" in answer.stderr


def test_python_hands_over_classes_and_instances() -> None:
    report = compare(SCENARIO, ["fcfs", Last, Last(by=2.0), ("chunk:size=4", Last(by=3.0))])
    names = [entry["policy"] for entry in report.document()["policies"]]
    assert names == ["fcfs", "Last", "Last:by=2.0", "chunk:size=4+Last:by=3.0"]
    assert finishes(report)[1] == finishes(report)[2]


def test_every_run_gets_a_fresh_one() -> None:
    mine = Last(by=2.0)
    compare(SCENARIO, ["fcfs", mine], seeds=2)
    assert mine.seen == []


def test_an_instance_runs_in_other_processes() -> None:
    one = compare(SCENARIO, ["fcfs", Last(by=2.0)], seeds=2)
    two = compare(SCENARIO, ["fcfs", Last(by=2.0)], seeds=2, jobs=2)
    assert one.document() == two.document()


def test_errors_name_it() -> None:
    @attrs.define
    class Bad:
        @hookimpl
        def effective_priority(self) -> str:
            return "first"

    with pytest.raises(PolicyError, match="component 'Bad', hook 'effective_priority', step 0"):
        compare(SCENARIO, [Bad()])
    with pytest.raises(InputError, match=r"'policy': not a component.*an attrs class"):
        compare(SCENARIO, [object()])
    with pytest.raises(InputError, match=r"given twice.*'Last'"):
        compare(SCENARIO, [Last, Last()])
