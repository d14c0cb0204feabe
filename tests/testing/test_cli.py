"""`schedfw policies check`: a line a check, and a scenario file that shows what is wrong."""

import json
import re
from pathlib import Path

import pytest
from command_line import schedfw
from installed import Site

from sched_core.testing.checks import CHECKS

CHEATS = """
import attrs
from sched_core import hookimpl

@attrs.define(eq=False)
class Stale:
    '''Offers requests that have left.'''
    seen: list = attrs.field(init=False, factory=list)

    @hookimpl
    def select_admissions(self, view):
        self.seen += [request for request in view.waiting if request not in self.seen]
        return self.seen

@attrs.define(eq=False)
class Unfair:
    '''Never admits tenant b.'''

    @hookimpl
    def can_admit(self, request):
        return request.tenant != 'b'

@attrs.define(eq=False)
class Peeking:
    '''Shortest true output first.'''

    @hookimpl
    def effective_priority(self, request):
        return request._request.output_len
"""


@pytest.fixture
def lab(site: Site) -> Site:
    policies = {"stale": "lab:Stale", "unfair": "lab:Unfair", "peeking": "lab:Peeking"}
    site.install("lab", CHEATS, policies)
    return site


def test_a_policy_that_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = schedfw("policies", "check", "fcfs", "--examples", 3)
    assert result.exit_code == 0
    summary, note = result.stdout.splitlines()
    assert summary == f"{len(CHECKS) - 1} passed, 1 skipped"
    assert re.fullmatch("note: effective_priority: asked [0-9]+ times, never gave a key .+", note)
    long = schedfw("policies", "check", "fcfs", "--examples", 3, "--verbose")
    header, *lines = [line.rstrip() for line in long.stdout.splitlines()]
    assert header.split() == ["tier", "check", "result"]
    count = len(CHECKS)
    (skipped,) = [line for line in lines[:count] if not line.endswith("pass")]
    assert skipped.endswith("skip: it has no select_admissions")
    assert lines[count:] == ["", summary, note]
    assert not list(tmp_path.iterdir())


def test_unknown_names_exit_2() -> None:
    result = schedfw("policies", "check", "fcsf")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean 'fcfs'" in result.stderr


def test_the_result_is_one_line_that_names_what_failed(lab: Site) -> None:
    result = schedfw("policies", "check", "unfair", "--examples", 10)
    assert result.exit_code == 1
    summary = result.stdout.splitlines()[0]
    assert summary == f"{len(CHECKS) - 3} passed, 2 skipped, 1 failed: E6 everyone ends"


STARVES = """
import attrs
from sched_core import hookimpl

@attrs.define
class Lifo:
    '''Last come, first served.'''
    priority_moves = "static"
    starves = {whom}

    @hookimpl
    def effective_priority(self, request):
        return -request.arrival
"""


@pytest.mark.parametrize(
    ("whom", "code", "summary"),
    [
        ("'the first, under load'", 0, "1 not promised: E6 no equal starves"),
        ("None", 1, "1 failed: E6 no equal starves"),
    ],
)
def test_what_is_not_promised_is_no_failure(site: Site, whom: str, code: int, summary: str) -> None:
    site.install("lab", STARVES.format(whom=whom), {"lifo": "lab:Lifo"})
    result = schedfw("policies", "check", "lifo", "--examples", 10)
    assert result.exit_code == code
    assert result.stdout.splitlines()[0].endswith(summary)
    listed = " ".join(schedfw("policies", "list").stdout.split())
    assert ("May starve the first, under load." in listed) is (code == 0)


@pytest.mark.parametrize("whom", ["True", "''", "3"])
def test_a_declaration_says_whom(site: Site, whom: str) -> None:
    site.install("lab", STARVES.format(whom=whom), {"lifo": "lab:Lifo"})
    result = schedfw("run", "--policy", "lifo")
    assert result.exit_code == 2
    assert f"starves is {whom}; it must say whom, as in 'long requests" in result.stderr


def failure(name: str, check: str) -> dict[str, object]:
    result = schedfw("policies", "check", name, "--examples", 40, "--format", "json")
    assert result.exit_code == 1
    (found,) = [each for each in json.loads(result.stdout) if each["check"] == check]
    assert found["status"] == "fail"
    return dict(found)


def test_the_scenario_of_an_illegal_answer_raises_it_again(lab: Site, tmp_path: Path) -> None:
    found = failure("stale", "H1 answers are legal")
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(found["scenario"]))
    result = schedfw("run", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"schedfw: error: {found['reason']}\n"
    assert "hook 'select_admissions'" in result.stderr


def test_the_scenario_of_a_stuck_request_is_stuck_again(lab: Site, tmp_path: Path) -> None:
    text = schedfw("policies", "check", "unfair", "--examples", 20).stdout
    file = tmp_path / "scenario.json"
    file.write_text(text[text.index("{\n") :])
    result = schedfw("run", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "the oldest request 'r0' waits" in result.stderr


def test_the_scenario_of_a_peek_decides_as_it_says(lab: Site, tmp_path: Path) -> None:
    """With the other lengths that the message gives the same step goes otherwise."""
    found = failure("peeking", "G3 true lengths stay hidden")
    text, scenario = str(found["reason"]), found["scenario"]
    lengths = json.loads(text[text.index("{") : text.index("}") + 1].replace("'", '"'))
    step = int(text.split(" step ")[1].split()[0])
    told = [decision(scenario, step, tmp_path)]
    for request in scenario["requests"]:  # type: ignore[index]
        request["output_len"] = lengths[request["id"]]
    told.append(decision(scenario, step, tmp_path))
    field = text.split(" s: ")[1].split()[0]
    assert f"{field} {told[1][field]}, not {told[0][field]}" in text


def decision(scenario: object, step: int, folder: Path) -> dict[str, object]:
    file, lines = folder / "scenario.json", folder / "decisions.jsonl"
    file.write_text(json.dumps(scenario))
    assert schedfw("run", file, "--decisions", lines).exit_code == 0
    return dict(json.loads(lines.read_text().splitlines()[step]))
