"""What a Markdown page shows - commands, their output, files - and a place to try it in.

Fenced blocks mean, by their language:

* `console`: lines after `$ ` are commands, the rest is their exact output; three dots stand for
  any text, as in a doctest.
* `sh`: commands, whose output is not shown.
* any other with a `title`: the file of that name. One that the repository holds must contain the
  block; any other is written, for the commands after it.
* `python`, `json`, `toml` without a title: a fragment that must parse.
* `text`: nothing to run.

`refresh_docs.py` puts the present output into the pages.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import attrs
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md"), *ROOT.glob("docs/**/*.md")]
)

SET_UP = (
    "pip install . ./contrib_policies && schedfw compare --policies fcfs,priority",
    "pip install -e '.[test]' -e ./contrib_policies && pytest -n auto",
)
"""Commands that are run by `.ci/run`, each in a new environment."""


@attrs.frozen
class Block:
    """One fenced block; `line` is the first of its text, from 1."""

    language: str
    title: str | None
    text: str
    line: int


@attrs.frozen
class Command:
    """What is typed, and what must be printed; None where a page does not show that."""

    text: str
    output: str | None
    line: int

    @property
    def sets_up(self) -> bool:
        """Does it set up an environment of its own? That is for `.ci/run`."""
        return self.text in SET_UP


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    found = []
    for token in MarkdownIt().parse(page.read_text("utf-8")):
        if token.type == "fence":
            assert token.map is not None
            title = re.search(r'title="([^"]+)"', token.info)
            language = token.info.partition(" ")[0]
            name = title[1] if title else None
            found.append(Block(language, name, token.content, token.map[0] + 2))
    return found


def commands(block: Block) -> Iterator[Command]:
    """The commands of a `console` or `sh` block; a backslash continues a line."""
    prompt = "$ " if block.language == "console" else ""
    text, output = "", ""
    start = block.line
    for line, content in enumerate(block.text.splitlines(), block.line):
        if text.endswith("\\"):
            text += f"\n{content}"
        elif content.startswith(prompt) and content:
            if text:
                yield Command(text, output if prompt else None, start)
            text, output, start = content.removeprefix(prompt), "", line
        else:
            output += f"{content}\n"
    assert text, f"line {block.line}: a block without a command"
    yield Command(text, output if prompt else None, start)


_PIP_OPTIONS = "--quiet --no-index --no-deps --no-build-isolation --target ../site"


def place(folder: Path, shared: Path | None) -> Path:
    """A copy of the repository in links, with the shared material beside it, to run pages in.

    A `pip install` there goes to a folder of its own, from what the test environment has.
    """
    copy = folder / "schedfw"
    copy.mkdir()
    for entry in ROOT.iterdir():
        if not entry.name.startswith(".") and entry.name != "examples":
            (copy / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "examples", copy / "examples")  # pip leaves build files there
    if shared is not None:
        (folder / "shared").symlink_to(shared)
    pip = folder / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip "$@" {_PIP_OPTIONS}\n')
    pip.chmod(0o755)
    return copy


def run(command: str, copy: Path) -> str:
    """What `command` prints, both streams, as a plain terminal of 80 columns shows it; but for
    where the time went, which a busy machine tells of any run."""
    folders = [str(copy.parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    env = {**os.environ, "PATH": os.pathsep.join(folders), "PYTHONPATH": str(copy.parent / "site")}
    env |= {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=copy,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, f"{command}\nexit code {done.returncode}\n{done.stdout}"
    lines = done.stdout.splitlines()
    return tidy("\n".join(line for line in lines if not line.startswith("schedfw: time: ")))


def tidy(output: str) -> str:
    """Output without blanks at the ends of lines and empty lines around it."""
    return "\n".join(line.rstrip() for line in output.splitlines()).strip("\n")


def matches(shown: str, printed: str) -> bool:
    """Is the output the one shown, where three dots stand for any text?"""
    return OutputChecker().check_output(f"{tidy(shown)}\n", f"{printed}\n", ELLIPSIS)


def shows(block: Block, folder: Path) -> None:
    """Write the file that a block shows, or hold the block against the repository's file."""
    assert block.title is not None
    path = folder / block.title
    if (ROOT / block.title).exists():
        assert block.text.rstrip("\n") in path.read_text("utf-8"), f"{block.title} is another"
    else:
        path.write_text(block.text, "utf-8")
