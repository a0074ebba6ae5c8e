"""Adding to a trace that is there: markers and notes, also while its run is still being written.

Knows lines and where a file ends; not which event is added. A trace is only ever appended to.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.packed import is_packed
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.events import Event


def append_line(file: BinaryIO, line: bytes) -> None:
    """Write one whole line at the end of an unbuffered file that appends; all of it or nothing.

    Raises
    ------
    OSError
        If it cannot be written; the file then ends where it did.
    """
    before = os.fstat(file.fileno()).st_size
    try:
        # One call a line; the system may take less of it when space runs out.
        written = file.write(line)
        if written != len(line):
            file.write(line[written:])
            if os.fstat(file.fileno()).st_size != before + len(line):
                raise OSError("the line was written in part")
    except OSError:
        with contextlib.suppress(OSError):
            file.truncate(before)
        raise


def append_events(path: Path, events: Sequence[Event]) -> None:
    """Append events to a trace file, after its last whole line.

    An incomplete last line, as a crash leaves one, is taken away: no reader shows it.

    Raises
    ------
    DraftscopeError
        If it is no trace, is packed, or cannot be written; it is then as it was.
    """
    path = Path(path)
    if is_packed(path):
        raise DraftscopeError(
            f"{path.name} is packed and cannot be added to: save the session as .jsonl first."
        )
    lines = [codec.encode(event) for event in events]
    reader = TraceReader(path)
    try:
        with path.open("r+b") as whole:
            _end_whole(whole, torn=reader.torn)
        with path.open("ab", buffering=0) as file:
            for line in lines:
                append_line(file, line)
            os.fsync(file.fileno())
    except OSError as fault:
        raise DraftscopeError(
            f"{path.name} cannot be written ({fault.strerror or fault}): save the session "
            "elsewhere and add to the copy."
        ) from fault


def _end_whole(file: BinaryIO, *, torn: bool) -> None:
    """Let a file end with a line break: cut a torn line off, or end a whole one."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read(1) == b"\n":
        return
    if not torn:
        file.seek(size)
        file.write(b"\n")
        return
    at, tail = size, b""
    while b"\n" not in tail and at > 0:
        start = max(0, at - 65536)
        file.seek(start)
        tail, at = file.read(at - start) + tail, start
    file.truncate(at + tail.rindex(b"\n") + 1 if b"\n" in tail else 0)
