"""Opens files as bytes: plain or compressed, from a disk, a pipe or the standard input (`-`).

What can be read once only is kept for this process, so that it can be looked at first and read
then, or read for several seeds.
"""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

from sched_core.errors import InputError

Place = str | os.PathLike[str]

STDIN = "-"

_GZIP, _ZSTD, _PARQUET, _ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"PK\x03\x04"

_kept: dict[str, bytes] = {}
_kept_stdin: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()


def called(path: Place) -> str:
    """The file's name in messages."""
    return "standard input" if os.fspath(path) == STDIN else os.fspath(path)


def lasts(path: Place) -> bool:
    """Can another process read it too? Not a pipe, nor the standard input."""
    return os.fspath(path) != STDIN and (not os.path.exists(path) or Path(path).is_file())


def is_parquet(head: bytes) -> bool:
    """Does a file that begins so hold Parquet?"""
    return head.startswith(_PARQUET)


@contextmanager
def opened(path: Place) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked where they are gzip or zstd, whatever the file's name.

    Raises InputError where they are packed in another way, or damaged; OSError as `open` does.
    """
    with raw(path) as file:
        head = file.peek(4)[:4]
        if head == _PARQUET:
            raise InputError(
                "is a Parquet file", file=called(path), expected=f"parquet:path={path}"
            )
        if head == _ZIP:
            raise InputError(
                "is a zip archive", file=called(path), expected="what is in it, plain or as gzip"
            )
        try:
            with _unpacked(file, head, called(path)) as content:
                yield content
        except _damages() as error:
            raise InputError(f"is damaged: {error}", file=called(path)) from None


@contextmanager
def raw(path: Place) -> Iterator[io.BufferedReader]:
    """The file's bytes as they are; raises OSError as `open` does."""
    if lasts(path):
        with open(path, "rb") as file:
            yield file
    else:
        yield io.BufferedReader(io.BytesIO(_once(path)))


def _once(path: Place) -> bytes:
    name = os.fspath(path)
    if name in (STDIN, "/dev/stdin"):
        return _standard_input()
    if name not in _kept:
        _kept[name] = Path(name).read_bytes()
    return _kept[name]


def _standard_input() -> bytes:
    stream = sys.stdin
    if stream is None:
        raise InputError("is closed", file=called(STDIN))
    if stream not in _kept_stdin:
        _kept_stdin[stream] = stream.buffer.read()
    return _kept_stdin[stream]


def _unpacked(file: BinaryIO, head: bytes, name: str) -> Any:
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=file)
    if head == _ZSTD:
        return _zstd(name).ZstdFile(file)
    return file


def _zstd(name: str) -> Any:
    """The standard library's module, of Python 3.14, or its backport."""
    try:
        from compression import zstd
    except ModuleNotFoundError:
        try:
            from backports import zstd
        except ModuleNotFoundError:
            raise InputError(
                "is packed with zstd, and nothing here unpacks that",
                file=name,
                expected="pip install 'schedfw[files]', or the file unpacked",
            ) from None
    return zstd


def _damages() -> tuple[type[Exception], ...]:
    """What the modules above raise; zstd's is known once its module is loaded."""
    found = (EOFError, zlib.error, gzip.BadGzipFile)
    loaded = [sys.modules.get(name) for name in ("compression.zstd", "backports.zstd")]
    return (*found, *(module.ZstdError for module in loaded if module is not None))
