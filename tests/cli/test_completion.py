"""What a shell offers."""

import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from sched_core.cli import main


def offered(*words: str) -> list[str]:
    """For the last of `words`, as far as it was typed."""
    found = ShellComplete(main, {}, "schedfw", "_SCHEDFW_COMPLETE")
    return [item.value for item in found.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "some"),
    [
        (("compare", "--policies", "prio"), ["priority", "priority-aging"]),
        (("compare", "--policies", "fcfs,prio"), ["fcfs,priority", "fcfs,priority-aging"]),
        (("compare", "--policies", "fcfs,sjf+ad"), ["fcfs,sjf+adaptive"]),
        (("run", "--policy", "sjf+predict-o"), ["sjf+predict-oracle"]),
        (("run", "--hardware", "h"), ["h100", "h200"]),
        (("run", "--workload", "poi"), ["poisson"]),
        (("policies", "check", "vt"), ["vtc"]),
        (("hardware", "show", "a100-"), ["a100-40gb"]),
        (("workloads", "describe", "azu"), ["azure"]),
        (("comp",), ["compare"]),
    ],
)
def test_names_go_on_as_they_begin(words: tuple[str, ...], some: list[str]) -> None:
    assert offered(*words) == some


def test_a_path_is_completed_as_one() -> None:
    found = ShellComplete(main, {}, "schedfw", "_SCHEDFW_COMPLETE")
    (item,) = found.get_completions(["run", "--policy"], "./ed")
    assert item.type == "file"


def test_nothing_that_is_installed_is_loaded() -> None:
    code = (
        "import sys; from sched_core.cli.completion import POLICIES as p;"
        "print(len(p.shell_complete(None, None, 'fcfs,')), 'sched_plugins' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, loaded = done.stdout.split()
    assert int(count) > 15
    assert loaded == "False"
