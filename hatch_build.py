"""Compiles the engine's hot modules by mypyc, where SCHEDFW_COMPILE=1 asks for it.

The wheel is then one of this platform; without it, and by default, it is pure Python.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WANTED = os.environ.get("SCHEDFW_COMPILE") == "1"

MODULES = (
    "request.py",
    "execution/load.py",
    "metrics/recorder.py",
    *(f"memory/{name}.py" for name in ("block_pool", "kv_cache")),
    *(f"engine/{name}.py" for name in ("agenda", "arrivals", "engine", "instance", "leap", "wake")),
    *(
        f"scheduler/{name}.py"
        for name in (
            "admission", "batching", "completion", "lockstep", "notices", "offer",
            "plan_builder", "preemption", "running", "scheduler", "shedding", "state", "waiting",
        )
    ),
)  # fmt: skip
"""What a step goes through; not the views, whose properties are made at run time."""


class CompiledModules(BuildHookInterface[Any]):
    """Adds the compiled modules beside their sources, which stay the reference."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """mypyc checks types as it compiles: it has to know these."""
        types = ["attrs", "cattrs", "numpy", "pluggy"]
        return ["mypy[mypyc]>=1.13", "setuptools>=70.1", *types] if WANTED else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless this is an editable install."""
        if not WANTED or version != "standard":
            return
        self.folder = Path(mkdtemp())
        shutil.copytree(Path(self.root, "sched_core"), self.folder / "sched_core")
        files = [f"sched_core/{module}" for module in MODULES]
        options = ["--ignore-missing-imports", "--explicit-package-bases"]
        command = [sys.executable, "-m", "mypyc", *options, *files]
        subprocess.run(command, cwd=self.folder, check=True)
        for path in self.folder.rglob("*.so" if os.name != "nt" else "*.pyd"):
            place = path.relative_to(self.folder)
            if place.parts[0] != "build":
                build_data["force_include"][str(path)] = str(place)
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        if WANTED and version == "standard":
            shutil.rmtree(self.folder)
