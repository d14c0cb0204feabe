"""O19: of three installed plugins two are broken. The third works; nothing is replaced silently."""

import json
from pathlib import Path

import pytest
from installed import Site

GOOD = """
import attrs
from sched_core import hookimpl

@attrs.define(eq=False)
class LongestPrompt:
    '''Longest prompt first.'''

    @hookimpl
    def effective_priority(self, request):
        return -request.prompt_len
"""
NEEDS_CUDA = "raise ImportError('libcuda.so.1 is missing')\n"
WRONG_ARGUMENT = GOOD.replace("(self, request)", "(self, reqest)")

SMALL = ("--workload", "poisson:n=20", "--format", "json")


@pytest.fixture
def lab(site: Site) -> Site:
    site.install("lab-good", GOOD, {"longest": "lab_good:LongestPrompt"})
    site.install("lab-cuda", NEEDS_CUDA, {"on-gpu": "lab_cuda:Policy"})
    site.install("lab-slip", WRONG_ARGUMENT, {"slip": "lab_slip:LongestPrompt"}, version="0.3")
    return site


def test_list_shows_all_and_says_what_is_wrong(lab: Site) -> None:
    done = lab.schedfw("policies", "list", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert {"fcfs", "priority"} <= set(rows)
    assert rows["longest"]["summary"] == "Longest prompt first."
    assert rows["on-gpu"]["distribution"] == "lab-cuda"
    assert rows["on-gpu"]["problem"] == "ImportError: libcuda.so.1 is missing"
    assert rows["slip"]["distribution"] == "lab-slip"
    assert rows["slip"]["problem"] == (
        "component 'slip' does not keep the contract: hook 'effective_priority': unknown argument "
        "'reqest'; did you mean 'request'? (known: now, request)"
    )
    shown = " ".join(lab.schedfw("policies", "list").stdout.split())
    assert shown.count("cannot be used: ") == 2


def test_the_good_one_works_beside_the_broken_ones(lab: Site) -> None:
    done = lab.schedfw("compare", "--policies", "fcfs,longest", *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    fcfs, longest = json.loads(done.stdout)["policies"]
    assert longest["components"] == {"effective_priority": ["longest"]}
    assert longest["summary"]["finished"] == fcfs["summary"]["finished"] == 20


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "on-gpu",
            "policy 'on-gpu' of distribution lab-cuda cannot be used: ImportError: libcuda.so.1 "
            "is missing",
        ),
        (
            "slip",
            "component 'slip' does not keep the contract: hook 'effective_priority': unknown "
            "argument 'reqest'; did you mean 'request'? (known: now, request)",
        ),
        ("fcsf", "unknown policy 'fcsf'; did you mean 'fcfs'?"),
    ],
)
def test_choosing_a_broken_or_unknown_one_ends_before_anything_runs(
    lab: Site, tmp_path: Path, name: str, reason: str
) -> None:
    decisions = tmp_path / "decisions.jsonl"
    done = lab.schedfw("run", "--policy", name, "--decisions", decisions, *SMALL)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"schedfw: error: {reason}")
    assert not decisions.exists()
