"""Cells on their way to another process."""

import os
import pickle
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from types import ModuleType

from sched_core.catalogue.given import Given
from sched_core.errors import InputError
from sched_core.experiment.cell import Cell
from sched_core.reports.report import Result


def execute_in(folder: str, packed: bytes) -> Result:
    """Run a cell where its paths mean what they meant to the sender; a process serves many."""
    os.chdir(folder)
    cell: Cell = pickle.loads(packed)
    return cell.execute()


def packed(cells: Sequence[Cell], jobs: int) -> list[bytes]:
    """The cells as bytes; raises InputError for a policy given in Python that cannot be sent.

    Classes go by name where a new process can import them; those of a script, a notebook or a
    module that is on no path go whole, by cloudpickle.
    """
    import cloudpickle  # loads slowly

    for module in _not_importable(cells):
        cloudpickle.register_pickle_by_value(module)
    found = []
    for cell in cells:
        try:
            found.append(cloudpickle.dumps(cell))
        except Exception as error:  # a parameter is foreign code
            raise InputError(
                f"policy {cell.label!r} cannot be sent to another process: {error}",
                field="jobs",
                value=jobs,
                expected="1",
            ) from error
    return found


def _not_importable(cells: Iterable[Cell]) -> list[ModuleType]:
    parts = (part for cell in cells for part in cell.scenario.policy if isinstance(part, Given))
    classes = (kind for part in parts for kind in part.plugin.cls.__mro__)
    names = dict.fromkeys(kind.__module__ for kind in classes)
    modules = [sys.modules[name] for name in names if name != "__main__" and name in sys.modules]
    return [module for module in modules if not _is_importable(module)]


def _is_importable(module: ModuleType) -> bool:
    """Would its name lead another process to the same file?"""
    known = sys.modules.pop(module.__name__)  # it answers for itself
    try:
        found = find_spec(module.__name__)
    except (ImportError, ValueError):
        return False
    finally:
        sys.modules[module.__name__] = known
    return found is not None and found.origin == getattr(module.__spec__, "origin", None)
