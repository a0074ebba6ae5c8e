"""A trace file as a sequence of events, found by a line index and decoded when asked for.

Knows files and line numbers; what a line means is the codec's. Holds eight bytes a line, however
large the file, and looks for lines no further than it is read. A file still being written can be
read: the index covers what was there at first.
"""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, overload

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION, Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHUNK = 1 << 20
_LONGEST_HEADER = 1 << 28  # bytes; a prompt of millions of tokens
_HEADER_BEGIN = b'{"type":"run_started"'


class Located(NamedTuple):
    """An event and where its line stands in the file, in bytes."""

    start: int
    size: int
    event: Event


class TraceReader:
    """The events of a trace file.

    `len`, indexing, slicing and iteration work as on a list. The file is opened for each access and
    never kept open, so that it can be moved or replaced. Iterating reads on as it goes; only what
    has to know the end of the file (`len`, an index, `torn`) looks for the rest of the lines.

    Attributes
    ----------
    path
        The file.
    scanned
        Bytes in which lines were looked for so far: tests count this work.

    Raises
    ------
    DraftscopeError
        If the file cannot be read, is empty, is no trace, or has another schema version. Damage on
        a later line is reported when that line is reached.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.scanned = 0
        self._torn = False
        self._indexed = False
        self._starts = array("Q", [0])  # at the end one more than lines: where the last one ends
        with self._open() as file:
            _check_first_line(file, self.path.name)
            self._size = os.fstat(file.fileno()).st_size

    @property
    def torn(self) -> bool:
        """Whether the last line is incomplete, as after a crash; it is left out."""
        self._index_all()
        return self._torn

    @property
    def notice(self) -> str | None:
        """What a user should know about a torn file, in a sentence; None for a whole one."""
        if not self.torn:
            return None
        return (
            f"The last event of {self.path.name} is incomplete and was left out; "
            "everything before it is here."
        )

    def __len__(self) -> int:
        self._index_all()
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...

    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        lines = range(len(self))[index]  # IndexError as a list's
        if isinstance(lines, range):
            return list(self._decoded(lines))
        return next(self._decoded([lines]))

    def __iter__(self) -> Iterator[Event]:
        return (found.event for found in self.located())

    def located(self) -> Iterator[Located]:
        """Yield every event with where its line stands, looking for lines only so far ahead."""
        with self._open() as file:
            line = 0
            while self._has_line(line):
                yield self._read(file, line)
                line += 1

    def _decoded(self, lines: Sequence[int]) -> Iterator[Event]:
        with self._open() as file:
            for line in lines:
                yield self._read(file, line).event

    def _read(self, file: BinaryIO, line: int) -> Located:
        start, end = self._starts[line], self._starts[line + 1]
        if file.tell() != start:
            file.seek(start)
        try:
            return Located(start, end - start, codec.decode(file.read(end - start)))
        except codec.LineError as fault:
            raise DraftscopeError(
                f"Line {line + 1} of {self.path.name} is damaged ({fault}): delete it and "
                "what follows, or open an earlier copy."
            ) from fault

    def _has_line(self, line: int) -> bool:
        """Whether there is such a line; looks for lines until it is known."""
        while line + 1 >= len(self._starts) and not self._indexed:
            self._index_on()
        return line + 1 < len(self._starts)

    def _index_all(self) -> None:
        while not self._indexed:
            self._index_on()

    def _index_on(self) -> None:
        """Look for lines in the next chunk."""
        with self._open() as file:
            file.seek(self.scanned)
            chunk = file.read(min(_CHUNK, self._size - self.scanned))
            at = chunk.find(b"\n")
            while at >= 0:
                self._starts.append(self.scanned + at + 1)
                at = chunk.find(b"\n", at + 1)
            self.scanned += len(chunk)
            if not chunk or self.scanned >= self._size:
                self._indexed = True
                if self._starts[-1] != self.scanned:
                    self._starts.append(self.scanned)
                    self._check_last_line(file)

    def _check_last_line(self, file: BinaryIO) -> None:
        """Keep a last line that lacks only its line break; leave a torn one out."""
        start, end = self._starts[-2], self._starts[-1]
        file.seek(start)
        try:
            codec.decode(file.read(end - start))
        except codec.LineError:
            self._torn = True
            self._starts.pop()

    def _open(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as fault:
            reason = "it is a folder" if self.path.is_dir() else fault.strerror or str(fault)
            raise DraftscopeError(
                f"{self.path} cannot be opened ({reason}): choose a trace file of Draftscope."
            ) from fault


def read_trace(path: str | Path) -> list[Event]:
    """Return every whole event of a trace file.

    Parameters
    ----------
    path
        Of a trace or a journal. A long one is better read through `TraceReader`.

    Raises
    ------
    DraftscopeError
        As `TraceReader`, and if any line but a torn last one is damaged.
    """
    return list(TraceReader(path))


def _check_first_line(file: BinaryIO, name: str) -> None:
    """Refuse what is no trace before its size can matter."""
    begin = file.read(1)
    if not begin:
        raise DraftscopeError(f"{name} is empty: choose another trace file.")
    if begin != b"{":
        raise DraftscopeError(
            f"{name} is not a Draftscope trace: choose a .jsonl file that Draftscope saved."
        )
    file.seek(0)
    line = file.readline(_LONGEST_HEADER)
    try:
        codec.check_header(line)
        codec.decode(line)
    except codec.VersionError as fault:
        writer = f", written by Draftscope {fault.written_by}" if fault.written_by else ""
        raise DraftscopeError(
            f"{name} has trace schema version {fault.schema}{writer}; this Draftscope reads "
            f"version {SCHEMA_VERSION}: open it with the Draftscope that wrote it."
        ) from fault
    except codec.LineError as fault:
        if line == _HEADER_BEGIN[: len(line)] or (
            line.startswith(_HEADER_BEGIN) and not line.endswith(b"\n")
        ):
            raise DraftscopeError(
                f"{name} ends within its first line and holds no whole event: choose another file."
            ) from fault
        raise DraftscopeError(
            f"{name} is not a Draftscope trace: choose a .jsonl file that Draftscope saved."
        ) from fault
