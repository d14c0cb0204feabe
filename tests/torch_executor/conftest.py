"""These tests need torch and transformers, which the base install does not bring."""

from importlib.util import find_spec

import pytest


def pytest_collect_file() -> None:
    if find_spec("torch") is None or find_spec("transformers") is None:
        pytest.skip("the torch executor needs torch and transformers: pip install 'schedfw[torch]'")
