"""The tokens of all rounds, a few bytes each: what became of them, and their own bytes.

Knows codes, pieces and the text. Knows no law, no probability and no chip. Each piece is kept once
however often it occurs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from app.viewmodels.characters import decode_piece
from app.viewmodels.columns import Growing
from app.viewmodels.portion import CODES, FIRST_CLOSING
from engine.trace.events import Fate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from app.viewmodels.portion import Portion

    Flags = npt.NDArray[np.bool_]

_ACCEPTED = CODES[Fate.ACCEPTED]
_MOST_PARTS = 1024  # of the text, before they are joined


class RowOfTokens(NamedTuple):
    """The tokens of one round: drafted ones, and the closing one if there is one.

    Attributes
    ----------
    codes
        What became of each, as `app.viewmodels.portion.WORDS` counts.
    pieces
        The bytes of each.
    carry
        The character that was begun before them.
    """

    codes: bytes
    pieces: tuple[bytes, ...]
    carry: bytes


class TokenTable:
    """Tokens by round.

    Attributes
    ----------
    rows_made
        Rounds whose tokens were put together again: tests count this work.
    """

    def __init__(self) -> None:
        self.rows_made = 0
        self._codes = Growing(1, np.uint8)
        self._numbers = Growing(1, np.uint32)  # of each token's piece
        self._starts = Growing(1, np.uint32)  # of each round among the tokens, and where all end
        self._starts.append(np.zeros(1, np.uint32))
        self._pieces: list[bytes] = []
        self._broken = Growing(1, np.bool_)  # by piece: ends or begins within a character
        self._ends_line = Growing(1, np.bool_)  # by piece
        self._carries: dict[int, bytes] = {}  # by round: begun characters, where there are any
        self._carry = b""  # after the last round
        self._text: list[str] = []
        self._text_ends = Growing(1, np.uint64)  # characters of the text after each round

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def starts(self) -> npt.NDArray[np.uint32]:
        """Where each round's tokens begin and, last, where all end; shape [rounds + 1]."""
        return self._starts.column()

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """What became of each token, shape [tokens]."""
        return self._codes.column()

    def begin_after(self, prompt: Sequence[bytes]) -> None:
        """Start behind a prompt, whose last character may be begun."""
        carry = b""
        for piece in prompt:
            carry = decode_piece(carry, piece).carry
        self._carry = carry

    def extend(self, portion: Portion) -> None:
        """Append a portion's rounds."""
        first = len(self)
        self._add_pieces(portion.new_pieces)
        numbers = np.frombuffer(portion.pieces, "<u4")
        codes = np.frombuffer(portion.codes, np.uint8)
        lengths = np.array(portion.lengths, np.uint32)
        self._starts.append(np.cumsum(lengths, dtype=np.uint32) + self.starts[-1])
        self._codes.append(codes)
        self._numbers.append(numbers)
        if self._carry or self._broken.column()[numbers].any():
            self._carry_on(first)
        self._add_texts(portion.texts)

    def _add_pieces(self, pieces: Sequence[bytes]) -> None:
        if pieces:
            self._pieces += pieces
            self._broken.append(np.array([_is_broken(piece) for piece in pieces]))
            self._ends_line.append(np.array([piece.endswith(b"\n") for piece in pieces]))

    def _carry_on(self, first: int) -> None:
        """Follow begun characters through the rounds from `first` on."""
        for index in range(first, len(self)):
            if self._carry:
                self._carries[index] = self._carry
            codes, pieces, carry = self.row(index)
            for code, piece in zip(codes, pieces, strict=True):
                if code == _ACCEPTED or code >= FIRST_CLOSING:
                    carry = decode_piece(carry, piece).carry
            self._carry = carry

    def _add_texts(self, texts: Sequence[str]) -> None:
        before = int(self._text_ends.column()[-1]) if len(self._text_ends) else 0
        ends = np.cumsum(np.array([len(text) for text in texts], np.uint64)) + np.uint64(before)
        self._text_ends.append(ends.astype(np.uint64))
        self._text.append("".join(texts))
        if len(self._text) >= _MOST_PARTS:
            self._text = ["".join(self._text)]

    def row(self, index: int) -> RowOfTokens:
        """Return the tokens of a round."""
        self.rows_made += 1
        start, end = int(self.starts[index]), int(self.starts[index + 1])
        numbers = self._numbers.column()[start:end].tolist()
        return RowOfTokens(
            self.codes[start:end].tobytes(),
            tuple(self._pieces[number] for number in numbers),
            self._carries.get(index, b""),
        )

    def fates(self, index: int) -> bytes:
        """Return what became of a round's drafted tokens, in order, each as a code."""
        start, end = int(self.starts[index]), int(self.starts[index + 1])
        codes = self.codes[start:end]
        return codes[codes < FIRST_CLOSING].tobytes()

    def text(self, rounds: int) -> str:
        """Return what the first rounds released to the text."""
        if rounds <= 0 or not len(self):
            return ""
        self._text = ["".join(self._text)]
        return self._text[0][: int(self._text_ends.column()[min(rounds, len(self)) - 1])]

    def line_ends(self, first: int, last: int) -> tuple[Flags, Flags]:
        """Return which tokens of rounds first to last - 1 are emitted, and which end in a line end.

        Both of shape [tokens of these rounds].
        """
        start, end = int(self.starts[first]), int(self.starts[last])
        codes = self.codes[start:end]
        emitted = (codes == _ACCEPTED) | (codes >= FIRST_CLOSING)
        return emitted, self._ends_line.column()[self._numbers.column()[start:end]]


def _is_broken(piece: bytes) -> bool:
    """Whether a piece ends or begins within a character."""
    try:
        piece.decode()
    except UnicodeDecodeError:
        return True
    return False
