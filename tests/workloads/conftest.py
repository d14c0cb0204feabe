"""How the tests of workloads write files and build from spec strings."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sched_core import Workload
from sched_core.catalogue.specs import build

Write = Callable[[str, str | bytes], Path]
Make = Callable[..., Workload]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(name, content) -> path; text is written byte for byte."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def make() -> Make:
    """make(spec, seed=0) -> workload, as the command line builds it."""

    def make_workload(spec: str, seed: int = 0) -> Workload:
        workload: Workload = build("workloads", spec).build(seed)
        return workload

    return make_workload
