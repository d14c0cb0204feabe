"""A place to install plugins in."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import Site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty folder of distributions, on this process's path too."""
    monkeypatch.syspath_prepend(tmp_path)
    yield Site(tmp_path)
    for module in tmp_path.glob("*.py"):
        sys.modules.pop(module.stem, None)
