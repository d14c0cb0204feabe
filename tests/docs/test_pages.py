"""Every command that a page shows works, and prints what the page says."""

import json
import re
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import rich_click as click
from doc_pages import (
    PAGES,
    ROOT,
    SET_UP,
    Block,
    Command,
    blocks,
    commands,
    matches,
    place,
    run,
    shows,
)
from markdown_it import MarkdownIt

from sched_core.cli import main

PARSERS: dict[str, Callable[[str], object]] = {
    "python": lambda text: compile(text, "fragment", "exec"),
    "json": json.loads,
    "toml": tomllib.loads,
    "text": str,
}


def needs_shared(page: Path) -> bool:
    return "../shared" in page.read_text("utf-8")


def needs_torch(page: Path) -> bool:
    return "--executor torch" in page.read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if needs_torch(page) and find_spec("torch") is None:
        pytest.skip("this page runs a real model: pip install 'schedfw[torch]'")
    shared = request.getfixturevalue("shared") if needs_shared(page) else None
    folder = place(tmp_path, shared)
    for block in blocks(page):
        if block.title is not None:
            shows(block, folder)
        elif block.language in ("console", "sh"):
            check_commands(block, folder)
        else:
            PARSERS[block.language](block.text)


def check_commands(block: Block, folder: Path) -> None:
    for command in commands(block):
        if command.sets_up:
            continue  # test_ci_sets_up_as_the_readme_says
        printed = run(command.text, folder)
        if command.output is not None and not matches(command.output, printed):
            assert printed == command.output.rstrip("\n"), f"line {command.line}"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/first-comparison.md"])
def test_the_chinese_page_shows_the_same(page: str) -> None:
    """Commands, files and outputs, one by one: only the text between them is another."""

    def shown(path: Path) -> list[tuple[str, str | None, str]]:
        return [(block.language, block.title, block.text) for block in blocks(path)]

    assert shown((ROOT / page).with_suffix(".zh.md")) == shown(ROOT / page)


def test_ci_sets_up_as_the_readme_says() -> None:
    shown = [command.text for block in blocks(ROOT / "README.md") for command in commands_in(block)]
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for command in SET_UP:
        assert command in shown
        assert command in script


def commands_in(block: Block) -> list[Command]:
    return list(commands(block)) if block.language in ("console", "sh") else []


def test_no_command_hides_in_a_block_of_another_language() -> None:
    typed = [
        f"{page.relative_to(ROOT)}:{block.line}"
        for page in PAGES
        for block in blocks(page)
        if block.language not in ("console", "sh")
        for line in block.text.splitlines()
        if re.match(r"[$ ]*(pytest|(schedfw|pip|python) \S)", line)
    ]
    assert typed == []


def test_links_lead_somewhere() -> None:
    links = [
        (page, str(child.attrs["href"]).partition("#")[0])
        for page in PAGES
        for token in MarkdownIt().parse(page.read_text("utf-8"))
        for child in token.children or []
        if child.type == "link_open"
    ]
    local = [(page, link) for page, link in links if link and not link.startswith("https:")]
    assert [(page.name, link) for page, link in local if not (page.parent / link).exists()] == []


def test_commands_within_the_text_exist() -> None:
    spans = [
        child.content
        for page in PAGES
        for token in MarkdownIt().parse(page.read_text("utf-8"))
        for child in token.children or []
        if child.type == "code_inline" and child.content.startswith("schedfw ")
    ]
    assert spans
    assert [span for span in spans if not exists(span)] == []


def exists(typed: str) -> bool:
    """Does `schedfw` have this command, with these options?"""
    _program, *words = typed.split()
    command: click.Command = main
    known = set(main.params)
    while words and isinstance(command, click.Group) and words[0] in command.commands:
        command = command.commands[words.pop(0)]
        known |= set(command.params)
    options = {option for parameter in known for option in parameter.opts}
    return {word for word in words if word.startswith("-")} <= options


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb", True),
        ("a  \nb\n\n", "a\nb", True),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\nd", "a\nb\nc", False),
        ("a.c", "abc", False),
        ("", "a", False),
    ],
)
def test_output_is_compared_line_by_line(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same
