"""The session itself as a file to take along: JSON Lines, plain or packed.

Knows lines. With nothing withheld each whole line stays as it stands, so that nothing is lost of
what a newer Draftscope wrote and this one does not know; a torn last line is left out. With
something withheld, or of an older schema version, each event is read and written anew; then lines
of unknown kinds are left out, since nobody can say what they hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION, RunStarted
from engine.trace.journal import whole_length
from engine.trace.packed import packed, plain_file
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from app.export.options import Options, Progress
    from app.export.source import Source

_CHUNK = 1 << 20
_PIECE = 1 << 16  # bytes of lines that are written at once
_WORD = "Writing the session"


def write_jsonl(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the session, a line an event, all runs of it."""
    _write(out, _session(source, progress))


def write_packed(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write the session packed with zstd; the same session gives the same bytes."""
    _write(out, packed(_session(source, progress)))


def _write(out: Path, pieces: Iterable[bytes]) -> None:
    with out.open("xb") as file:
        for piece in pieces:
            file.write(piece)


def _session(source: Source, progress: Progress) -> Iterator[bytes]:
    """Yield the session's bytes, piece by piece."""
    plain = plain_file(source.path)
    length = whole_length(plain)
    anew = source.withheld or TraceReader(source.path).schema < SCHEMA_VERSION
    taken = _anew(source) if anew else _as_it_stands(plain, length)
    done = 0
    for piece in taken:
        yield piece
        done += len(piece)
        progress(min(done, length), length, _WORD)


def _as_it_stands(path: Path, length: int) -> Iterator[bytes]:
    """Yield the first bytes of a file; the last line ends with a line break."""
    last = b""
    with path.open("rb") as file:
        while length and (chunk := file.read(min(length, _CHUNK))):
            length -= len(chunk)
            last = chunk[-1:]
            yield chunk
    if last != b"\n":
        yield b"\n"


def _anew(source: Source) -> Iterator[bytes]:
    """Yield the events without what is withheld, as this Draftscope writes them."""
    held = bytearray()
    for event in source.events():
        if isinstance(event, RunStarted) and event.schema != SCHEMA_VERSION:
            event = msgspec.structs.replace(event, schema=SCHEMA_VERSION)
        held += codec.encode(event)
        if len(held) >= _PIECE:
            yield bytes(held)
            held.clear()
    yield bytes(held)
