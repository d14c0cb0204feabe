"""The scripts in `benchmarks/`, run as their users run them, or loaded to call their functions."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from doc_pages import ROOT

FOLDER = ROOT / "benchmarks"


def run_script(name: str, folder: Path, *options: object) -> Any:
    """The figures that the script writes with `--json`; it runs in `folder`."""
    figures = folder / "figures.json"
    command = [sys.executable, FOLDER / name, *map(str, options), "--json", figures]
    subprocess.run(command, check=True, cwd=folder, capture_output=True, timeout=120)
    return json.loads(figures.read_text("utf-8"))


def load_script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, with those that stand beside it."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module(name)
