"""What a name in a spec stands for: a class, and where it comes from."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

import attrs

SINGULAR = {"policies": "policy", "hardware": "hardware", "workloads": "workload"}


@attrs.frozen
class Plugin:
    """An entry point, loaded or not; or a class in a file, or one that was handed over."""

    name: str
    group: str
    distribution: str
    version: str
    entry: EntryPoint | None = attrs.field(default=None, repr=False)
    problem: str | None = None
    """Why it cannot be used; None when it can."""
    cls: Any = attrs.field(default=None, repr=False)
    files: Mapping[str, str] = attrs.field(factory=dict)
    """Path -> sha256 of the file that holds it and of the neighbours that this imports, where it is
    in no package."""

    @property
    def summary(self) -> str:
        """First line of the class's docstring."""
        return ((self.cls.__doc__ or "").strip().splitlines() or [""])[0] if self.cls else ""
