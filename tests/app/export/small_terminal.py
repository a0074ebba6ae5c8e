"""As much of a terminal as a recording needs: a grid, a scrolling region, styles, a saved cursor.

Stricter than most: whatever else is sent is an error, and a saved cursor forgets that it stood
behind the last column, as some do.
"""

from __future__ import annotations

import re
import unicodedata

_SEQUENCE = re.compile(r"\x1b(?:\[(\?)?([\d;]*)([A-Za-z])|([78]))")


class SmallTerminal:
    """A terminal of so many columns and rows.

    Attributes
    ----------
    gone
        Lines that scrolled out at the top, as text.
    styles
        For each style that was ever written with, the characters in it, in order.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.gone: list[str] = []
        self.styles: dict[str, str] = {}
        self._grid = [[" "] * columns for _ in range(rows)]
        self._x = self._y = 0
        self._pending = False
        self._wraps = True
        self._top, self._bottom = 0, rows - 1
        self._style = ""
        self._saved = (0, 0, "", True)

    @property
    def region(self) -> tuple[int, int]:
        """First and last row that scroll, from 0."""
        return self._top, self._bottom

    def line(self, row: int) -> str:
        """Return a row's characters without the blanks at its end."""
        return "".join(self._grid[row]).rstrip()

    def screen(self) -> list[str]:
        """Return all rows."""
        return [self.line(row) for row in range(self.rows)]

    def feed(self, text: str) -> None:
        """Take in what was sent."""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = _SEQUENCE.match(text, at)
                assert found is not None, f"no sequence: {text[at : at + 12]!r}"
                self._obey(found)
                at = found.end()
            else:
                self._put(text[at])
                at += 1

    def _obey(self, found: re.Match[str]) -> None:
        private, numbers, letter, cursor = found.groups()
        values = [int(value) for value in numbers.split(";") if value] if numbers else []
        if cursor == "7":
            self._saved = (self._x, self._y, self._style, self._wraps)
        elif cursor == "8":
            self._x, self._y, self._style, self._wraps = self._saved
            self._pending = False
        elif private:
            assert values == [7], "only wrapping is switched"
            self._wraps = letter == "h"
        elif letter == "m":
            self._style = "" if values in ([], [0]) else numbers
        elif letter == "H":
            self._y, self._x = (values[0] - 1, values[1] - 1) if values else (0, 0)
            self._pending = False
        elif letter == "r":
            self._top, self._bottom = (
                (values[0] - 1, values[1] - 1) if values else (0, self.rows - 1)
            )
            self._x = self._y = 0
            self._pending = False
        elif letter == "K":
            assert values == [2]
            self._grid[self._y] = [" "] * self.columns
        elif letter == "J":
            assert values == [2]
            self._grid = [[" "] * self.columns for _ in range(self.rows)]
        else:
            raise AssertionError(f"no such sequence: {found[0]!r}")

    def _put(self, character: str) -> None:
        if character == "\r":
            self._x, self._pending = 0, False
            return
        if character == "\n":
            self._down()
            return
        assert unicodedata.category(character) != "Cc", f"a control: {character!r}"
        width = _width(character)
        if width == 0:
            self._grid[self._y][max(0, self._x - 1)] += character
        else:
            self._print(character, width)
        self.styles[self._style] = self.styles.get(self._style, "") + character

    def _print(self, character: str, width: int) -> None:
        if self._wraps and (self._pending or self._x + width > self.columns):
            self._x = 0
            self._down()
        self._pending = False
        at = min(self._x, self.columns - width)
        self._grid[self._y][at] = character
        for more in range(1, width):
            self._grid[self._y][at + more] = ""
        self._x = min(at + width, self.columns - 1)
        self._pending = at + width == self.columns

    def _down(self) -> None:
        self._pending = False
        if self._y == self._bottom:
            self.gone.append(self.line(self._top))
            del self._grid[self._top]
            self._grid.insert(self._bottom, [" "] * self.columns)
        elif self._y < self.rows - 1:
            self._y += 1


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
