"""What an entry point of group `schedfw.hardware` names, and what it may offer besides."""

from typing import Protocol, runtime_checkable

from sched_core.execution.executor import Executor


@runtime_checkable
class Hardware(Protocol):
    """What an entry point of group `schedfw.hardware` names: an attrs class whose fields are its
    parameters (`a100:ec=0.8`)."""

    def executor(self, model: str | None, *, block_size: int) -> Executor:
        """An executor for `model`: a name of `models.toml`, a path to a Hugging Face
        `config.json`, or None where the hardware needs no model.

        Raises UnknownName or InputError when the model is unknown or cannot be read.
        """
