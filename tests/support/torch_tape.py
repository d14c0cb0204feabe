"""What a CUDA graph is, on a CPU: operations with the memory they used, run again without Python.

Whatever the recorded code decided by itself stays decided, and every result goes where it went the
first time: what would be wrong in a graph is wrong here.
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

SYNCHRONOUS = {"_local_scalar_dense", "nonzero", "is_nonzero", "equal", "masked_select"}
"""Operations in which a host waits for its device, and which no graph can hold."""


class Tape(TorchDispatchMode):
    """Notes every operation. Raises RuntimeError at one that waits for the device."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[tuple[Any, Any, Any, list[Tensor]]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func.overloadpacket.__name__ in SYNCHRONOUS:
            raise RuntimeError(f"{func} waits for the device")
        out = func(*args, **(kwargs or {}))
        self.notes.append((func, args, kwargs or {}, tensors(out)))
        return out

    def replay(self) -> None:
        """All of it again; a result that is memory of its own is copied to where it was."""
        for func, args, kwargs, outs in self.notes:
            for out, again in zip(outs, tensors(func(*args, **kwargs)), strict=True):
                if again.data_ptr() != out.data_ptr():
                    out.copy_(again)


def tensors(values: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]


def on_tape(compute: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Record `compute` as a graph would: what is returned calls no Python of its own."""
    with Tape() as tape:
        result = compute()

    def replay() -> Tensor:
        tape.replay()
        return result

    return replay
