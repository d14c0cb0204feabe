"""Where the tests find what they do not own."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared material: golden traces of vLLM and public data (SCHEDFW_SHARED or ../shared)."""
    path = Path(os.environ.get("SCHEDFW_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"no shared material at {path}; set SCHEDFW_SHARED")
    return path
