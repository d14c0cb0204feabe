"""Files that say which one they are when they cannot be written, the standard output among them."""

import io
import os
import sys
from pathlib import Path
from typing import IO, Any

from sched_core.errors import SchedfwError

STDOUT = "standard output"


class Unwritable(SchedfwError):
    """The disk is full, or the reader has left."""

    def __init__(self, name: str, error: OSError) -> None:
        super().__init__(f"{name}: cannot be written: {error.strerror}")
        self.nobody_reads = name == STDOUT and isinstance(error, BrokenPipeError)


class _Named(io.FileIO):
    """Raises Unwritable in place of OSError, which click and rich would take for their own."""

    def __init__(self, file: Path | int, name: str) -> None:
        super().__init__(file, "w", closefd=not isinstance(file, int))
        self._called = name

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise Unwritable(self._called, error) from None


def open_named(file: Path, name: str) -> IO[str]:
    """A text file, empty, called `name` in messages. Raises OSError as `open` does."""
    return io.TextIOWrapper(io.BufferedWriter(_Named(file, name)), encoding="utf-8", newline="\n")


def stdout() -> IO[str]:
    """The standard output under its name; as it is where it is no file of the system's."""
    now = sys.stdout
    if now is None:  # closed by the caller, who wants nothing
        return open(os.devnull, "w", encoding="utf-8")
    try:
        raw = _Named(now.fileno(), STDOUT)
    except io.UnsupportedOperation:
        return now
    terminal = raw.isatty()
    return io.TextIOWrapper(
        io.BufferedWriter(raw), now.encoding, now.errors, line_buffering=terminal
    )
