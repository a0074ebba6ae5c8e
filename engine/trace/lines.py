"""Events of a trace file read back one by one, by where their lines stand.

Knows a file and the places of its lines. Unlike `reader` it keeps the file open, so that what is
on show can still be read when the file was moved, replaced or removed. Not for two threads.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION
from engine.trace.packed import plain_file

if TYPE_CHECKING:
    from engine.trace.events import Event

_CHUNK = 1 << 20
_ROUND = b'{"type":"round"'  # what the line of a round begins with


class TraceLines:
    """Lines of a trace file, decoded when they are asked for.

    Parameters
    ----------
    path
        Of a trace, or of a journal that is still being written.

    Raises
    ------
    DraftscopeError
        If the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._name = Path(path).name
        self._starts = array("Q")  # of the lines of rounds
        self._sizes = array("Q")
        self._looked = 0  # bytes of whole lines that were looked at
        try:
            plain = plain_file(path)
            self._file = plain.open("rb", buffering=0)
            self._schema = _version_of(plain)
        except OSError as fault:
            raise self._unreadable(fault.strerror or str(fault)) from fault

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def read(self, start: int, size: int) -> Event:
        """Return the event of a line.

        Raises
        ------
        DraftscopeError
            If it cannot be read, or is an event no more.
        """
        try:
            self._file.seek(start)
            return codec.decode(self._file.read(size), self._schema)
        except OSError as fault:
            raise self._unreadable(fault.strerror or str(fault)) from fault
        except codec.LineError as fault:
            raise self.changed() from fault

    def changed(self) -> DraftscopeError:
        """Return what to raise where the file holds something else than it did."""
        return DraftscopeError(
            f"{self._name} was changed while it was on show: open it again, or an earlier copy."
        )

    def find(self, number: int) -> tuple[int, int] | None:
        """Return start and size of the line of a round, of a file with one run; None if not there.

        Rounds are counted and not lines: whoever adds a marker does it when they like. Costs what
        the file has grown since the last call.
        """
        if number >= len(self._starts):
            self._look_further()
        if number >= len(self._starts):
            return None
        return self._starts[number], self._sizes[number]

    def _look_further(self) -> None:
        rest = b""
        try:
            self._file.seek(self._looked)
            while chunk := self._file.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line.startswith(_ROUND):
                        self._starts.append(self._looked)
                        self._sizes.append(len(line) + 1)
                    self._looked += len(line) + 1
        except OSError as fault:
            raise self._unreadable(fault.strerror or str(fault)) from fault

    def _unreadable(self, reason: str) -> DraftscopeError:
        return DraftscopeError(
            f"{self._name} cannot be read any more ({reason}): open it from where it is now."
        )


def _version_of(path: Path) -> int:
    """Return a file's schema version; what has none is read as this one's."""
    with path.open("rb") as file:
        try:
            return codec.check_header(file.readline())
        except codec.LineError:
            return SCHEMA_VERSION
