"""What a hook prints is no output of ours: it goes to stderr."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from sched_core.policy.stack import asked_in


@contextmanager
def hooks_print_to_stderr() -> Iterator[None]:
    """While the block runs; what others print, such as watchers, goes where it went."""
    if sys.stdout is None:  # closed by the caller, who wants nothing
        yield
        return
    with redirect_stdout(_ByWriter(sys.stdout)):
        yield


class _ByWriter:
    """A standard output that looks who writes."""

    def __init__(self, usual: Any) -> None:
        self._usual = usual

    def write(self, text: str) -> Any:
        """To stderr where a hook writes."""
        return self._place().write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Likewise."""
        self._place().writelines(lines)

    def _place(self) -> Any:
        return self._usual if asked_in(sys._getframe(2)) is None else sys.stderr

    def __getattr__(self, name: str) -> Any:
        return getattr(self._usual, name)
