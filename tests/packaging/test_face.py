"""`import schedfw` and `python -m schedfw`."""

import subprocess
import sys

import sched_core
import sched_core.testing
import schedfw
import schedfw.testing


def test_it_is_all_of_the_core_and_nothing_else() -> None:
    assert schedfw.__all__ is sched_core.__all__
    assert all(getattr(schedfw, name) is getattr(sched_core, name) for name in schedfw.__all__)
    assert schedfw.testing.__all__ is sched_core.testing.__all__


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "schedfw", "run", "--hardware", "h1000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("schedfw: error: unknown hardware 'h1000'")
