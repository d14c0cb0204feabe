"""Tiny distributions on a path of their own, and the command line of a process that sees them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs


@attrs.frozen
class Site:
    """A folder of installed distributions: what importlib.metadata needs, and no more."""

    path: Path

    def install(
        self,
        name: str,
        code: str,
        policies: Mapping[str, str],
        version: str = "1.0",
        **others: Mapping[str, str],
    ) -> None:
        """A distribution with one module, named alike; entry points of policies and other kinds."""
        module = name.replace("-", "_")
        info = self.path / f"{module}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = []
        for kind, entries in {"policies": policies, **others}.items():
            lines += [f"[schedfw.{kind}]", *(f"{key} = {entries[key]}" for key in entries)]
        (info / "entry_points.txt").write_text("\n".join([*lines, ""]))
        (self.path / f"{module}.py").write_text(code)

    def schedfw(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        """`schedfw ARGUMENTS` in a process of its own."""
        return subprocess.run(
            [sys.executable, "-c", "from sched_core.cli import main; main()", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(self.path), "COLUMNS": "400"},
            capture_output=True,
            text=True,
            timeout=60,
        )
