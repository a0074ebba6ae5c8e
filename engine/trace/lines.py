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

if TYPE_CHECKING:
    from engine.trace.events import Event

_CHUNK = 1 << 20


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
        self._starts = array("Q", [0])
        try:
            self._file = Path(path).open("rb")  # noqa: SIM115  # kept open: see above
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
            return codec.decode(self._file.read(size))
        except OSError as fault:
            raise self._unreadable(fault.strerror or str(fault)) from fault
        except codec.LineError as fault:
            raise self.changed() from fault

    def changed(self) -> DraftscopeError:
        """Return what to raise where the file holds something else than it did."""
        return DraftscopeError(
            f"{self._name} was changed while it was on show: open it again, or an earlier copy."
        )

    def find(self, line: int) -> tuple[int, int] | None:
        """Return start and size of a whole line by its number; None if it is not there yet.

        Costs what the file has grown since the last call.
        """
        if line + 1 >= len(self._starts):
            self._look_further()
        if line + 1 >= len(self._starts):
            return None
        return self._starts[line], self._starts[line + 1] - self._starts[line]

    def _look_further(self) -> None:
        at = self._starts[-1]
        try:
            self._file.seek(at)
            while chunk := self._file.read(_CHUNK):
                found = chunk.find(b"\n")
                while found >= 0:
                    self._starts.append(at + found + 1)
                    found = chunk.find(b"\n", found + 1)
                at += len(chunk)
        except OSError as fault:
            raise self._unreadable(fault.strerror or str(fault)) from fault

    def _unreadable(self, reason: str) -> DraftscopeError:
        return DraftscopeError(
            f"{self._name} cannot be read any more ({reason}): open it from where it is now."
        )
