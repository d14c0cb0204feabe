"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import IO

import rich_click as click

from sched_core.cli.named_file import open_named
from sched_core.errors import InputError


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A text file that gets its name `path` only when the block ends well.

    What is no regular file, such as /dev/stdout, is written as it comes. Raises InputError before
    the block where the place cannot be written to, and Unwritable where the disk is full.
    """
    special = path.exists() and not path.is_file()
    target = path.resolve()
    partial = path if special else target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:  # first of all: an interrupt may come as soon as the file is there
        with _opened(partial, path) as file:
            yield file
        if not special:
            partial.replace(target)
    finally:
        if not special and partial.exists():
            partial.unlink()


def _opened(partial: Path, path: Path) -> IO[str]:
    try:
        return open_named(partial, str(path))
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=path) from None


output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Print to this file, written whole or not at all.",
)


@contextmanager
def printed_to(path: Path | None) -> Iterator[None]:
    """What the block prints goes to the file `path`, if there is one."""
    if path is None:
        yield
        return
    with whole_file(path) as file, redirect_stdout(file):
        yield
