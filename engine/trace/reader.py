"""A trace file as a sequence of events, found by a line index and decoded when asked for.

Knows files and line numbers; what a line means is the codec's. Holds eight bytes a line, however
large the file, and looks for lines no further than it is read. A file still being written can be
read: the index covers what was there at first.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, overload

from engine.errors import DraftscopeError
from engine.file_names import name_in_words
from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION, Event, RunStarted
from engine.trace.packed import plain_file

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
    """The events of a trace file, packed or not.

    `len`, indexing, slicing and iteration work as on a list. The file is opened for each access and
    never kept open, so that it can be moved or replaced. Iterating reads on as it goes; only what
    has to know the end of the file (`len`, an index, `torn`) looks for the rest of the lines.

    Iterating and slicing pass over lines of kinds that this version has no word for, and in a file
    of a newer schema version over all that cannot be read: `notice` says so once they were met.

    Attributes
    ----------
    path
        The file.
    plain
        Where its lines stand: the file itself, or what it was unpacked to.
    schema
        Version of the file.
    left_out
        How many lines were passed over so far, by kind; "" counts those that were damaged.
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
        self.plain = plain_file(self.path)
        self.left_out: Counter[str] = Counter()
        self._passed: set[int] = set()  # lines, so that none is counted twice
        self.scanned = 0
        self._torn = False
        self._indexed = False
        self._starts = array("Q", [0])  # at the end one more than lines: where the last one ends
        with self._open() as file:
            self.schema, self._writer = _check_first_line(file, self.path.name)
            self._size = os.fstat(file.fileno()).st_size

    @property
    def torn(self) -> bool:
        """Whether the last line is incomplete, as after a crash; it is left out."""
        self._index_all()
        return self._torn

    @property
    def notice(self) -> str | None:
        """What a user should know about the file, in sentences; None for one that is read whole."""
        name, said = name_in_words(self.path.name), []
        if self.schema > SCHEMA_VERSION:
            by = f" by Draftscope {self._writer}" if self._writer else ""
            said.append(
                f"{name} was written{by} with trace schema version {self.schema}; this Draftscope "
                f"knows version {SCHEMA_VERSION} and shows what it can read of it."
            )
        if self.left_out:
            kinds = ", ".join(sorted(kind or "unreadable" for kind in self.left_out))
            many = self.left_out.total()
            lines = "1 event is" if many == 1 else f"{many:,} events are"
            said.append(f"{lines} not shown, of kinds that this Draftscope does not know: {kinds}.")
        if self.torn:
            said.append(
                f"The last event of {name} is incomplete and was left out; "
                "everything before it is here."
            )
        return " ".join(said) or None

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
        with self._open() as file:
            return self._read(file, lines).event

    def __iter__(self) -> Iterator[Event]:
        return (found.event for found in self.located())

    def located(self) -> Iterator[Located]:
        """Yield every event with where its line stands, looking for lines only so far ahead."""
        with self._open() as file:
            line = 0
            while self._has_line(line):
                found = self._read_or_pass(file, line)
                if found is not None:
                    yield found
                line += 1

    def _decoded(self, lines: Sequence[int]) -> Iterator[Event]:
        with self._open() as file:
            for line in lines:
                found = self._read_or_pass(file, line)
                if found is not None:
                    yield found.event

    def _read_or_pass(self, file: BinaryIO, line: int) -> Located | None:
        """Return a line's event; None, and count it, where this version need not know it."""
        try:
            return self._read(file, line)
        except DraftscopeError as fault:
            cause = fault.__cause__
            known = not isinstance(cause, codec.UnknownKindError)
            if known and self.schema <= SCHEMA_VERSION:
                raise
            if line not in self._passed:
                self._passed.add(line)
                self.left_out[cause.kind if isinstance(cause, codec.UnknownKindError) else ""] += 1
            return None

    def _read(self, file: BinaryIO, line: int) -> Located:
        start, end = self._starts[line], self._starts[line + 1]
        if file.tell() != start:
            file.seek(start)
        try:
            return Located(start, end - start, self._decode(file.read(end - start)))
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
            self._decode(file.read(end - start))
        except codec.UnknownKindError:
            pass
        except codec.LineError:
            self._torn = True
            self._starts.pop()

    def _decode(self, line: bytes) -> Event:
        return codec.decode(line, self.schema)

    def _open(self) -> BinaryIO:
        try:
            return self.plain.open("rb")
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


def _check_first_line(file: BinaryIO, name: str) -> tuple[int, str]:
    """Refuse what is no trace before its size can matter; return its version and its writer's."""
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
        schema = codec.check_header(line)
        started = codec.decode(line, schema)
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
    return schema, started.version if isinstance(started, RunStarted) else ""
