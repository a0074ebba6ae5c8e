"""Whole files or none: an advisory lock and an atomic copy. Knows no events.

A file that is replaced atomically is, after a crash at any moment, the old one or the new one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from typing import TYPE_CHECKING, BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_CHUNK = 1 << 20


class FileLock:
    """A lock on a file that the operating system lets go of when the process ends, however.

    Two locks on one file exclude each other within a process too.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def take(self) -> bool:
        """Create the file if need be and lock it; return False if another holder has it."""
        file = self.path.open("ab")
        try:
            if sys.platform == "win32":
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    def release(self, *, remove: bool) -> None:
        """Let go, and remove the file too if asked."""
        if self._file is None:
            return
        if remove and sys.platform != "win32":
            self.path.unlink(missing_ok=True)  # while still locked: nobody sees it free
        self._file.close()
        self._file = None
        if remove and sys.platform == "win32":  # an open file cannot be removed there
            self.path.unlink(missing_ok=True)


def copy_atomically(
    source: Path,
    target: Path,
    length: int,
    through: Callable[[Iterable[bytes]], Iterable[bytes]] | None = None,
) -> None:
    """Copy the first `length` bytes of `source`, then put the copy in the place of `target`.

    Parameters
    ----------
    through
        What becomes of the bytes on their way; None: nothing.

    Raises
    ------
    OSError
        If either cannot be read or written; `target` is then as it was.
    """
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with source.open("rb") as reading, part.open("xb") as writing:
            pieces: Iterable[bytes] = _first_bytes(reading, length)
            for piece in pieces if through is None else through(pieces):
                writing.write(piece)
            writing.flush()
            os.fsync(writing.fileno())
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def _first_bytes(file: BinaryIO, length: int) -> Iterator[bytes]:
    while length and (chunk := file.read(min(length, _CHUNK))):
        length -= len(chunk)
        yield chunk
