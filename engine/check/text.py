"""Whether a run's texts are what its tokens' bytes say. Knows bytes and stop strings; no event.

A trace does not say which tokens are control tokens, nor what a vocabulary strips at the beginning
of a text, so every reading of the bytes that gives the recorded texts so far is kept.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class _Reading(NamedTuple):
    """One way to read the tokens so far."""

    started: bool = False  # whether a token has given bytes: the first may lose spaces
    pending: bytes = b""  # of a character that is not complete
    owed: str = ""  # decoded and not yet released: it may begin a stop string


class TextReadings:
    """Follows a text token by token.

    Parameters
    ----------
    stop_strings
        Of the run.
    at_start
        Whether the first token begins a text.
    """

    def __init__(self, stop_strings: tuple[str, ...], *, at_start: bool) -> None:
        self._stops = stop_strings
        self._readings = {_Reading(started=not at_start)}

    @property
    def may_have_stopped(self) -> bool:
        """Whether a reading has come to a stop string."""
        return any(self._at_stop(reading.owed) for reading in self._readings)

    @property
    def must_have_stopped(self) -> bool:
        """Whether every reading has."""
        return all(self._at_stop(reading.owed) for reading in self._readings)

    def add(self, piece: bytes, released: str, *, ends: bool = False) -> str | None:
        """Take a token and the text that it released; one that ends the text may be no part of it.

        Returns
        -------
        str or None
            None if it can be; else what the bytes give instead. Then nothing more can be followed.
        """
        steps = [step for reading in self._readings for step in _steps(reading, piece, ends)]
        self._readings = {
            reading._replace(owed=reading.owed[len(released) :])
            for reading in steps
            if reading.owed.startswith(released)
            and self._may_be_owed(reading.owed[len(released) :])
        }
        return None if self._readings else " or ".join(sorted({repr(at.owed) for at in steps}))

    def finish(self, tail: str) -> str | None:
        """Take the text that was still withheld; return as `add` does."""
        tails = {self._cut(_flushed(reading)) for reading in self._readings}
        return None if tail in tails else " or ".join(sorted(map(repr, tails)))

    def _may_be_owed(self, text: str) -> bool:
        return not text or self._at_stop(text) or any(stop.startswith(text) for stop in self._stops)

    def _cut(self, text: str) -> str:
        """Return what stands before the stop string that ends first; the tail can complete one."""
        found = [(text.find(stop) + len(stop), text.find(stop)) for stop in self._stops]
        return text[: min((at for at in found if at[1] >= 0), default=(0, len(text)))[1]]

    def _at_stop(self, text: str) -> bool:
        return any(text.startswith(stop) for stop in self._stops)


def _steps(reading: _Reading, piece: bytes, ends: bool) -> Iterator[_Reading]:
    """Yield what a token can lead to: as it stands, without first spaces, or left out."""
    for part in _parts(reading, piece):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        decoder.setstate((reading.pending, 0))
        text = decoder.decode(part)
        started = reading.started or bool(piece)
        yield _Reading(started, decoder.getstate()[0], reading.owed + text)
    if ends or _whole(piece):  # a control token, perhaps
        yield reading


def _parts(reading: _Reading, piece: bytes) -> Iterable[bytes]:
    if reading.started or not piece.startswith(b" "):
        return (piece,)
    return {piece, piece[1:], piece.replace(b" ", b"")}


def _whole(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return bool(piece)


def _flushed(reading: _Reading) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.setstate((reading.pending, 0))
    return reading.owed + decoder.decode(b"", final=True)
