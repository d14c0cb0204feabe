"""Where the tests find what they do not own."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared material: golden traces of vLLM and public data (SCHEDFW_SHARED or ../shared)."""
    path = Path(os.environ.get("SCHEDFW_SHARED", ROOT.parent / "shared"))
    if not path.is_dir():
        pytest.skip(f"no shared material at {path}; set SCHEDFW_SHARED")
    return path


settings.register_profile("small", max_examples=60, deadline=None)
settings.register_profile("deep", max_examples=20_000, deadline=None)
