"""Text from tokens as they come: whole characters only, and stop strings found across tokens.

The text of a stream, put together, is the text of all its ids decoded at once. Every token costs
the same however long the text is. Knows no vocabulary file and no model.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Protocol

from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Pieces(Protocol):
    """What a stream asks of a tokenizer."""

    def piece(self, token: int) -> bytes:
        """Return a token's own bytes."""

    def first_piece(self, token: int) -> bytes:
        """Return a token's bytes where it begins a text."""

    def is_special(self, token: int) -> bool:
        """Return whether the token is a control token."""


class TextStream:
    """Releases text token by token.

    A character is released once its last byte is there; bytes that can be no character become
    U+FFFD as soon as that is certain. Text is withheld only while it is a proper prefix of a stop
    string. Where several stop strings match, the one that ends first counts (of those that end
    together, the longest), so that the cut does not depend on how the text falls into tokens.

    Parameters
    ----------
    stop_strings
        The text is cut just before the first of these; the token that completed it may reach
        beyond it.
    skip_special
        Leave control tokens out of the text.
    silent
        Ids that are no part of the text either, as those that end it: not every tokenizer calls
        its end of turn a control token.
    at_start
        Whether the stream begins a text. False where it continues one: then the first token keeps
        the space that SentencePiece vocabularies put before a word.
    """

    def __init__(
        self,
        tokenizer: Pieces,
        stop_strings: Sequence[str] = (),
        *,
        skip_special: bool = True,
        silent: Collection[int] = (),
        at_start: bool = True,
    ) -> None:
        if not all(stop_strings):
            raise DraftscopeError("A stop string is empty. Remove it or type its text.")
        self._tokenizer = tokenizer
        self._stop_strings = tuple(stop_strings)
        self._skip_special = skip_special
        self._silent = frozenset(silent)
        self._at_start = at_start
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._withheld = ""
        self._stop_string: str | None = None

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found; nothing is released after it."""
        return self._stop_string is not None

    @property
    def stop_string(self) -> str | None:
        """The stop string that was found."""
        return self._stop_string

    @property
    def withheld(self) -> str:
        """Whole characters that may yet turn out to begin a stop string."""
        return self._withheld

    @property
    def begun(self) -> bytes:
        """Bytes of a character that is not complete yet; with them all bytes are accounted for."""
        return self._decoder.getstate()[0]

    def push(self, token: int) -> str:
        """Take the next token and return the text that it releases, often none."""
        if self.stopped or token in self._silent:
            return ""
        if self._skip_special and self._tokenizer.is_special(token):
            return ""
        if self._at_start:
            piece = self._tokenizer.first_piece(token)
            self._at_start = not self._tokenizer.piece(token)
        else:
            piece = self._tokenizer.piece(token)
        return self._release(self._decoder.decode(piece))

    def flush(self) -> str:
        """Return what is left when no more tokens come; half a character becomes U+FFFD."""
        if self.stopped:
            return ""
        text = self._release(self._decoder.decode(b"", final=True))
        text, self._withheld = text + self._withheld, ""
        return text

    def _release(self, new: str) -> str:
        text = self._withheld + new
        found = [
            (start + len(stop), start, stop)
            for stop in self._stop_strings
            if (start := text.find(stop)) >= 0
        ]
        if found:
            _, start, self._stop_string = min(found)
            self._withheld = ""
            return text[:start]
        kept = self._possible_beginning(text)
        self._withheld = text[len(text) - kept :]
        return text[: len(text) - kept]

    def _possible_beginning(self, text: str) -> int:
        """Return the length of the longest end of `text` that a stop string begins with."""
        longest = max((len(stop) for stop in self._stop_strings), default=1) - 1
        for length in range(min(longest, len(text)), 0, -1):
            end = text[len(text) - length :]
            if any(len(stop) > length and stop.startswith(end) for stop in self._stop_strings):
                return length
        return 0
