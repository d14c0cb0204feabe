"""`schedfw policies new`: a package of a policy to begin with, which passes its own check."""

import re
import sys
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

import rich_click as click

import sched_core
from sched_core.catalogue.entries import plugins
from sched_core.errors import InputError
from sched_core.policy.skeleton import component

_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")

PYPROJECT = """\
[project]
name = "{name}"
version = "0.1.0"
dependencies = ["schedfw"]

[project.optional-dependencies]
test = ["schedfw[check]"]

[project.entry-points."schedfw.policies"]
{name} = "{module}:{cls}"

[tool.setuptools]
py-modules = ["{module}"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""

TEST = """\
from {module} import {cls}

from sched_core.testing import parametrize_with_policy_checks


@parametrize_with_policy_checks([{cls}], examples=10)
def test_{module}_keeps_the_contract(policy, check):
    check(policy)
"""

README = """\
# {name}

A policy for schedfw. Try it, uninstalled:

    schedfw compare --policies fcfs,./{module}.py
    schedfw policies check ./{module}.py
    pytest

Installed, it has a name wherever a policy is asked for:

    pip install .
    schedfw compare --policies fcfs,{name}
"""


@click.command("new")
@click.argument("name")
@click.option(
    "--hook",
    "hooks",
    multiple=True,
    default=("effective_priority",),
    show_default=True,
    help="A hook that it implements. May be repeated.",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Where its folder is made. [default: here]",
)
def new_command(name: str, hooks: tuple[str, ...], directory: Path) -> None:
    """Write a package for a new policy NAME, such as edf: the policy, its test, TOML and README.

    It works as it stands, with each hook as in the example of its documentation.
    """
    module = name.replace("-", "_")
    _refuse_taken(name, module)
    words = {"name": name, "module": module, "cls": _class_name(module)}
    files = {
        f"{module}.py": component(words["cls"], hooks, sched_core.__all__),
        "pyproject.toml": PYPROJECT.format(**words),
        f"tests/test_{module}.py": TEST.format(**words),
        "README.md": README.format(**words),
    }
    folder = directory / name
    _write(folder, files)
    for file in files:
        click.echo(folder / file)
    click.echo(f"try it: schedfw policies check {folder / module}.py")


def _class_name(module: str) -> str:
    return "".join(part.capitalize() for part in module.split("_"))


def _refuse_taken(name: str, module: str) -> None:
    if not _NAME.fullmatch(name):
        expected = "lower-case letters, digits and single dashes, such as edf or my-edf"
        raise InputError("cannot name a package", field="name", value=name, expected=expected)
    if owners := [plugin.distribution for plugin in plugins("policies") if plugin.name == name]:
        taken = f"is a policy of {owners[0]} already"
    elif iskeyword(module) or module in sys.stdlib_module_names or find_spec(module):
        taken = "is a name of Python or of an installed module"
    else:
        return
    raise InputError(taken, field="name", value=name, expected="another name")


def _write(folder: Path, files: dict[str, str]) -> None:
    if folder.exists():
        raise InputError("exists already", file=folder, expected="another name or --directory")
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=folder) from None
