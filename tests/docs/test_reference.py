"""The reference names what the code has, no more and no less."""

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import attrs
import pytest
from doc_pages import ROOT
from generated import llms
from harness import serve

from sched_core import cli
from sched_core.catalogue.entries import plugins
from sched_core.config import EngineConfig
from sched_core.errors import UsageError
from sched_core.experiment.experiment import compare
from sched_core.experiment.scenario import Scenario, from_keys
from sched_core.workload.listed import LISTED

REFERENCE = ROOT / "docs" / "reference"


def first_column(page: str, heading: str) -> list[str]:
    """The names that begin the rows of the tables under a heading."""
    text = (REFERENCE / page).read_text("utf-8")
    section = re.split(rf"(?m)^#+ {re.escape(heading)}\n", text)[1]
    bodies = re.findall(r"(?m)^\| --- .*\n((?:\|.*\n)+)", re.split(r"(?m)^#+ ", section)[0])
    return [row.split("|")[1].strip(" `") for body in bodies for row in body.splitlines()]


@cache
def document() -> dict[str, Any]:
    small = Scenario(
        workload="poisson:n=3", hardware="constant", config=EngineConfig(num_gpu_blocks=999)
    )
    return compare(small, ["fcfs", "sjf"], seeds=2).document()


def known(keys: dict[str, Any]) -> list[str]:
    """The names that a scenario offers where it is given one that it does not know."""
    with pytest.raises(UsageError) as error:
        from_keys(keys, "here")
    listed = re.search(r"\(known: (.+)\)", str(error.value))
    assert listed is not None
    return listed[1].split(", ")


TABLES: dict[tuple[str, str], Callable[[], Any]] = {
    ("metrics.md", "Summary"): lambda: document()["policies"][0]["summary"],
    ("metrics.md", "Request record"): lambda: document()["policies"][0]["requests"][0],
    ("metrics.md", "Differences"): lambda: document()["differences"][0],
    ("scenario-files.md", "Scenario files"): lambda: known({"?": 0}),
    ("scenario-files.md", "Listed requests"): lambda: LISTED,
    ("scenario-files.md", "Engine configuration"): lambda: attrs.fields_dict(EngineConfig),
    ("scenario-files.md", "Decision traces"): lambda: serve("a(8,2,@0)").lines[0],
}


@pytest.mark.parametrize(("page", "heading"), TABLES)
def test_a_table_has_every_name(page: str, heading: str) -> None:
    named = first_column(page, heading)
    assert sorted(named) == sorted(TABLES[page, heading]())


def test_workloads_names_every_source() -> None:
    text = (REFERENCE / "workloads.md").read_text("utf-8").partition("## Parameters")[0]
    ours = [plugin.name for plugin in plugins("workloads") if plugin.distribution == "schedfw"]
    assert [name for name in ours if f"`{name}" not in text] == []


def test_every_policy_begins_with_what_it_is() -> None:
    text = (REFERENCE / "policies.md").read_text("utf-8")
    shown = dict(re.findall(r"(?m)^### (.+)\n\n(.*)", text))
    listed = {plugin.name: plugin.summary for plugin in plugins("policies")}
    assert {name: listed[name] for name in shown} == shown
    assert len(shown) > 15


def test_the_list_of_pages_for_language_models_is_up_to_date() -> None:
    readme = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert (ROOT / "docs" / "llms.txt").read_text("utf-8") == llms(readme), "refresh_docs.py"
    linked = set(re.findall(r"\]\((\S+?\.md)\)", llms(readme)))
    pages = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    assert linked == pages - {"README.md"}


def test_exit_codes() -> None:
    codes = (0, cli.FAILED, cli.USAGE, cli.FAULT, cli.INTERRUPTED)
    assert first_column("command-line.md", "Exit codes") == [str(code) for code in codes]


def test_generated_parts_are_up_to_date() -> None:
    pages = sorted(map(str, REFERENCE.glob("*.md")))
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", "-I", "docs", *pages],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, f"{done.stdout}\nwrite anew: tests/support/refresh_docs.py"
