"""Text on a terminal whose lines end before they are full.

Where the cursor stands after the last column is known to no two terminals alike, so it never gets
there. Knows how wide characters are and where lines may end. Knows no style and no token.
"""

from __future__ import annotations

import re
import unicodedata

TAB = 8
_PARTS = re.compile(r"\n| ?[^ \n]+| ")


class Flow:
    """Text that comes piece by piece.

    Attributes
    ----------
    column
        Where the cursor stands, from 0.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self.column = 0

    def begin_line(self) -> None:
        """Note that the cursor was sent to the first column."""
        self.column = 0

    def text(self, text: str) -> str:
        """Return the next piece with its lines ended, between words where it can be.

        Tabs become blanks; a blank before a word that begins a line goes.
        """
        out: list[str] = []
        for part in _PARTS.findall(text):
            word = part.lstrip(" ")
            if part != word and word and self._is_too_long(part):
                out.append("\n")
                self.column = 0
            else:
                word = part
            out += map(self._next, word)
        return "".join(out)

    def _is_too_long(self, part: str) -> bool:
        """Whether a word no longer fits behind what is there."""
        return self.column + sum(width(character, 0) for character in part) >= self._columns

    def _next(self, character: str) -> str:
        if character == "\n":
            self.column = 0
            return character
        wide = width(character, self.column)
        end = self.column + wide >= self._columns
        if end:
            self.column, wide = 0, width(character, 0)
        self.column += wide
        return ("\n" if end else "") + (" " * wide if character == "\t" else character)


def width(character: str, column: int) -> int:
    """Return the columns that a character takes at a column; rather too many than too few."""
    if character == "\t":
        return TAB - column % TAB
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WFA" else 1
