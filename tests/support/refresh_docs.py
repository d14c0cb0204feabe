"""Write the pages anew: what is generated, and what commands print. Blocks with dots stay.

python tests/support/refresh_docs.py
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
from doc_pages import PAGES, ROOT, Block, blocks, commands, place, run, shows

sys.path.insert(0, str(ROOT / "docs"))

from generated import llms  # it lies beside the pages


def refresh(page: Path, copy: Path) -> None:
    """Put the present output into a page's console blocks."""
    lines = page.read_text("utf-8").split("\n")
    for block in reversed(list(printed(page, copy))):
        start = block.line - 1
        end = start + lines[start:].index("```")
        lines[start:end] = block.text.split("\n")
    page.write_text("\n".join(lines), "utf-8")


def printed(page: Path, copy: Path) -> Iterator[Block]:
    """The console blocks of a page with what their commands print now."""
    for block in blocks(page):
        if block.title is not None:
            shows(block, copy)
        elif block.language in ("console", "sh"):
            typed = [command.text for command in commands(block) if not command.sets_up]
            shown = [f"$ {text}\n{run(text, copy)}".strip() for text in typed]
            if block.language == "console" and "..." not in block.text:
                yield attrs.evolve(block, text="\n".join(shown))


def main() -> None:
    """Refresh every page."""
    shared = Path(os.environ.get("SCHEDFW_SHARED", ROOT.parent / "shared")).resolve()
    pages = sorted(map(str, (ROOT / "docs" / "reference").glob("*.md")))
    cog = [sys.executable, "-m", "cogapp", "-r", "-I", "docs", *pages]
    subprocess.run(cog, cwd=ROOT, check=True)
    docs = ROOT / "docs"
    (docs / "llms.txt").write_text(llms((docs / "README.md").read_text("utf-8")), "utf-8")
    for page in PAGES:
        with TemporaryDirectory() as folder:
            refresh(page, place(Path(folder), shared))


if __name__ == "__main__":
    main()
