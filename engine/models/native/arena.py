"""Memory for packed weights, in large pages where the system has them. Knows bytes only.

A pass reads every weight once; with small pages a good part of its time goes into finding where
they lie. Memory that nobody has written yet costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.memory import address_of, open_memory

if TYPE_CHECKING:
    import mmap

_CHUNK = 1 << 28  # bytes asked of the system at once; only what is written is really taken
_LINE = 64  # bytes that a processor fetches at once


@dataclass(frozen=True)
class Block:
    """A piece of memory that lives as long as this does."""

    address: int
    size: int  # bytes
    _chunk: mmap.mmap  # kept alive


class Arena:
    """Hands out pieces of memory, one after another; a chunk goes when its last piece does."""

    def __init__(self) -> None:
        self._chunk: mmap.mmap | None = None
        self._address = 0
        self._used = 0

    def take(self, size: int) -> Block:
        """Return `size` bytes of zeros that begin at a line of the processor's caches.

        Raises
        ------
        MemoryError
            If the system has no more.
        """
        needed = -(-size // _LINE) * _LINE
        if self._chunk is None or self._used + needed > len(self._chunk):
            self._open(max(needed, _CHUNK))
        assert self._chunk is not None
        block = Block(self._address + self._used, size, self._chunk)
        self._used += needed
        return block

    def _open(self, size: int) -> None:
        self._chunk, self._used = open_memory(size, large_pages=True), 0
        self._address = address_of(self._chunk)
