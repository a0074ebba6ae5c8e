"""A trace file as a sequence of events, found by a line index and decoded when asked for.

Knows files and line numbers; what a line means is the codec's. Holds eight bytes a line, however
large the file. A file still being written can be read: the index covers what was there at first.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, overload

from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION, Event

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHUNK = 1 << 20
_LONGEST_HEADER = 1 << 28  # bytes; a prompt of millions of tokens
_HEADER_BEGIN = b'{"type":"run_started"'


class TraceReader:
    """The events of a trace file.

    `len`, indexing, slicing and iteration work as on a list. The file is opened for each access and
    never kept open, so that it can be moved or replaced.

    Attributes
    ----------
    path
        The file.
    torn
        Whether the last line is incomplete, as after a crash; it is left out.

    Raises
    ------
    DraftscopeError
        If the file cannot be read, is empty, is no trace, or has another schema version. Damage on
        a later line is reported when that line is reached.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.torn = False
        with self._open() as file:
            _check_first_line(file, self.path.name)
            self._starts = _line_starts(file)  # one more than lines: where the last one ends
            self._check_last_line(file)

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
        return self._decoded(range(len(self)))

    def _decoded(self, lines: Sequence[int]) -> Iterator[Event]:
        with self._open() as file:
            for line in lines:
                start, end = self._starts[line], self._starts[line + 1]
                if file.tell() != start:
                    file.seek(start)
                try:
                    yield codec.decode(file.read(end - start))
                except codec.LineError as fault:
                    raise DraftscopeError(
                        f"Line {line + 1} of {self.path.name} is damaged ({fault}): delete it and "
                        "what follows, or open an earlier copy."
                    ) from fault

    def _check_last_line(self, file: BinaryIO) -> None:
        """Keep a last line that lacks only its line break; leave a torn one out."""
        start, end = self._starts[-2], self._starts[-1]
        file.seek(end - 1)
        if file.read(1) == b"\n":
            return
        file.seek(start)
        try:
            codec.decode(file.read(end - start))
        except codec.LineError:
            self.torn = True
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


def _line_starts(file: BinaryIO) -> array[int]:
    """Return where each line starts and, last, where the file ends."""
    starts = array("Q", [0])
    file.seek(0)
    offset = 0
    while chunk := file.read(_CHUNK):
        at = chunk.find(b"\n")
        while at >= 0:
            starts.append(offset + at + 1)
            at = chunk.find(b"\n", at + 1)
        offset += len(chunk)
    if starts[-1] != offset:
        starts.append(offset)
    return starts
