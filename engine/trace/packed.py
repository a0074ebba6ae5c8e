"""Traces that are packed with zstd: told by their first bytes, unpacked once, packed whole.

Knows files and bytes; knows no event. A packed trace is read from a file of its own in the system's
folder for passing things, which goes when the process ends: lines are then found by their places.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import zstandard

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX = ".zst"
LEVEL = 19  # a session is packed once and carried often
_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20
_PIECE = 1 << 14  # packed bytes at a time: what they unpack to is held at once
_WINDOW = 1 << 27  # bytes that unpacking may look back: what level 19 asks for, and more
_TIMES = 2_000  # as large as that many times the packed file: more is no trace
_SMALL = 1 << 28  # bytes that any packed file may have unpacked

_lock = threading.Lock()
_unpacked: dict[tuple[str, int, int], Path] = {}
_folder: list[Path] = []


def is_packed(path: Path) -> bool:
    """Return whether a file begins as zstd; False if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def plain_file(path: Path) -> Path:
    """Return the file itself, or where its unpacked bytes lie until this process ends.

    Raises
    ------
    DraftscopeError
        If it is packed and is damaged, or there is no room for what it holds.
    """
    path = Path(path)
    if not is_packed(path):
        return path
    with _lock:
        seen = path.stat()
        key = (str(path.resolve()), seen.st_mtime_ns, seen.st_size)
        found = _unpacked.get(key)
        if found is None or not found.exists():
            found = _unpacked[key] = _unpack(path, seen.st_size)
        return found


def packed(data: Iterable[bytes]) -> Iterable[bytes]:
    """Yield what is packed of these bytes, piece by piece; the same bytes give the same.

    One thread and no size in front: neither the machine nor how the pieces fall shows in it.
    """
    squeeze = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj()
    for piece in data:
        yield squeeze.compress(piece)
    yield squeeze.flush()


def _unpack(path: Path, size: int) -> Path:
    if not _folder:
        _folder.append(Path(tempfile.mkdtemp(prefix="draftscope-")))
        atexit.register(shutil.rmtree, _folder[0], ignore_errors=True)
    handle, name = tempfile.mkstemp(dir=_folder[0], suffix=".jsonl")
    try:
        with os.fdopen(handle, "wb") as out, path.open("rb") as file:
            _pour(file, out, max(_SMALL, _TIMES * size), path.name)
    except zstandard.ZstdError as fault:
        _remove(name)
        raise DraftscopeError(
            f"{path.name} is damaged and cannot be unpacked: open an earlier copy of it."
        ) from fault
    except OSError as fault:
        _remove(name)
        raise DraftscopeError(
            f"{path.name} cannot be unpacked ({fault.strerror or fault}): free space in the "
            "system's temporary folder and open it again."
        ) from fault
    except BaseException:
        _remove(name)
        raise
    return Path(name)


def _pour(file: BinaryIO, out: BinaryIO, most: int, name: str) -> None:
    """Unpack a file as far as it goes; one that was cut short ends in a torn line, as it would."""
    written, last = 0, b""
    opened = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    pour = opened.decompressobj(write_size=_CHUNK)
    left = file.read(_PIECE)
    while left:
        chunk = pour.decompress(left)
        written += len(chunk)
        if written > most:
            raise DraftscopeError(
                f"{name} unpacks to more than {most >> 20:,} MB, which no session does: "
                "open another file."
            )
        out.write(chunk)
        last = chunk[-1:] or last
        left = pour.unused_data or file.read(_PIECE)
        if pour.eof and left:  # another frame follows
            pour = opened.decompressobj(write_size=_CHUNK)
    if not pour.eof and last == b"\n":
        out.write(b"{")


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):
        Path(name).unlink()
