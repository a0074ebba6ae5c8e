"""Rows of flowing text for chips in a row: laid out once and extended at the end.

Knows widths and line breaks. Knows no fate but those whose box needs room, no colour, no painter
and no chip before or after its own.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from app.painting.strip_changes import first_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.painting.strip_changes import Changed
    from app.painting.strip_measures import StripMeasures
    from app.viewmodels.chips import Chip, Fragment, FragmentKind

_BOXED = frozenset(("correction", "bonus"))
_BARE = frozenset(("prompt", "plain"))  # without a background: a word of several tokens stays one
_ROUND_GAPS = 2.2  # room for the tick of a round's boundary, in gaps between chips
_OUT_OF_TEXT = frozenset(("rejected", "discarded", "cut"))  # their line ends end no line
_BREAK_AFTER = "-–—/"
_FIRST_GUESS = 32  # characters of a row, before it is measured


class Placed(NamedTuple):
    """A fragment, or a part of one, on its row; lengths in logical pixels.

    Attributes
    ----------
    chip
        Index of its chip.
    text
        What is drawn, without the white space at its ends.
    start, end
        What the pointer hits, white space included.
    left, right
        What fills and marks enclose.
    pen
        Where the first character is drawn.
    """

    chip: int
    text: str
    kind: FragmentKind
    start: float
    end: float
    left: float
    right: float
    pen: float


class StripRows:
    """Rows of placed fragments for some chips.

    Parameters
    ----------
    begin
        The first of the chips.
    soft
        Whether the first row goes on with a line of the text instead of beginning one.

    Attributes
    ----------
    rows
        Each a list of `Placed`, from left to right; chips stand in logical order whatever the
        direction of their own text.
    end
        One past the last chip that is laid out.
    placed
        How many chips were placed so far, those placed again included.
    """

    def __init__(self, measures: StripMeasures, width: float, begin: int, soft: bool) -> None:
        self._measures = measures
        self._width = width
        self._begin = begin
        self.end = begin
        self.placed = 0
        self.rows: list[list[Placed]] = [[]]
        self._first_chip: list[int] = [begin]  # chip of each row's first fragment
        self._soft: list[bool] = [soft]  # whether the row began by wrapping

    def update(self, chips: Sequence[Chip], first: int, end: int) -> Changed:
        """Lay out chips again from index `first` to `end` - 1; return what differs by that."""
        self.end = max(self._begin, min(self.end, first))
        row = self.row_of(self.end) if self.end > self._begin else 0
        # A row begins where it does because of a fragment at most one row further: one that did
        # not fit and took the beginning of its word along. So two rows above are open, too.
        row = max(0, row - 2)
        while row > 0 and self._opens_inside_a_chip(row):
            row -= 1
        begin = self._first_chip[row] if row else self._begin
        before = self.rows[row:]
        del self.rows[row:], self._first_chip[row:]
        soft = self._soft[row]
        del self._soft[row:]
        self._open_row(begin, soft)
        for index, chip in enumerate(chips[begin:end], begin):
            self._place(index, chip)
        self.placed += end - begin
        self.end = end
        return first_change(before, self.rows[row:], first, row)

    def _opens_inside_a_chip(self, row: int) -> bool:
        above = self.rows[row - 1]
        return bool(above) and above[-1].chip == self._first_chip[row] and bool(self.rows[row])

    def _open_row(self, chip: int, soft: bool) -> None:
        self.rows.append([])
        self._first_chip.append(chip)
        self._soft.append(soft)

    def _place(self, index: int, chip: Chip) -> None:
        for number, fragment in enumerate(chip.fragments):
            self._place_fragment(index, fragment, chip, number == 0)
            if fragment.kind == "newline" and chip.fate not in _OUT_OF_TEXT:
                self._open_row(index + (number == len(chip.fragments) - 1), False)

    def _place_fragment(self, index: int, fragment: Fragment, chip: Chip, opens: bool) -> None:
        gap = self._gap_before(chip) if opens else 0.0
        while True:
            fragment = self._without_indent(fragment)
            row = self.rows[-1]
            placed = self._placed(index, fragment, row[-1].end + gap if row else 0.0, chip)
            if placed.right <= self._width or fragment.kind == "newline":
                row.append(placed)
                return
            if not row:
                self._split(index, fragment, chip)
                return
            moved = self._wrap(fragment)
            self._open_row(moved[0].chip if moved else index, True)
            self.rows[-1] += moved

    def _gap_before(self, chip: Chip) -> float:
        if chip.starts_round:
            return self._measures.gap * _ROUND_GAPS
        return self._measures.gap * (0.3 if chip.fate in _BARE else 1.0)

    def _without_indent(self, fragment: Fragment) -> Fragment:
        """Drop the spaces at which a line was wrapped; those of the text's own lines stay."""
        if self._soft[-1] and not self.rows[-1] and fragment.text.startswith(" "):
            return fragment._replace(text=fragment.text.lstrip(" ") or " ")
        return fragment

    def _wrap(self, fragment: Fragment) -> list[Placed]:
        """Take the beginning of an unfinished word off the last row, shifted to the left."""
        row = self.rows[-1]
        following = fragment.text
        for at in range(len(row) - 1, -1, -1):
            if _may_break(row[at], following) or row[at].end - row[at].start > self._width / 2:
                break
            following = (
                " " if row[at].left > row[at].start + self._measures.space / 2 else ""
            ) + row[at].text
        else:
            return []  # one word fills the row: break it here
        moved = row[at + 1 :]
        del row[at + 1 :]
        if not moved:
            return []
        shift = moved[0].left
        return [
            one._replace(
                start=max(0.0, one.start - shift),
                end=one.end - shift,
                left=one.left - shift,
                right=one.right - shift,
                pen=one.pen - shift,
            )
            for one in moved
        ]

    def _split(self, index: int, fragment: Fragment, chip: Chip) -> None:
        """Break a fragment that is wider than a row into as many rows as it needs."""
        text = fragment.text
        while text:
            taken = self._fitting(text, fragment, self._width)
            part = fragment._replace(text=text[:taken])
            self.rows[-1].append(self._placed(index, part, 0.0, chip))
            text = text[taken:]
            if text:
                self._open_row(index, True)

    def _fitting(self, text: str, fragment: Fragment, room: float) -> int:
        """Count the characters, at least one, that fit; a mark stays with its letter.

        Costs what a row holds, however long the text is.
        """
        room -= 2 * self._measures.pad
        least, most = 1, min(_FIRST_GUESS, len(text))
        while most < len(text) and self._measures.advance(text[:most], fragment.kind) <= room:
            least, most = most, min(2 * most, len(text))
        while least < most:
            middle = (least + most + 1) // 2
            if self._measures.advance(text[:middle], fragment.kind) <= room:
                least = middle
            else:
                most = middle - 1
        while 1 < least < len(text) and _joins(text[least]):
            least -= 1
        return least

    def _placed(self, index: int, fragment: Fragment, at: float, chip: Chip) -> Placed:
        text = fragment.text.strip(" ")
        if not text or fragment.kind == "space":
            text = fragment.text
        pad = (
            self._measures.pad
            if chip.fate in _BOXED
            else 0.0
            if chip.fate in _BARE
            else self._measures.gap / 2
        )
        leading = len(fragment.text) - len(fragment.text.lstrip(" ")) if text.strip(" ") else 0
        trailing = len(fragment.text) - leading - len(text)
        left = at + leading * self._measures.space
        pen = left + pad
        right = pen + self._measures.advance(text, fragment.kind) + pad
        end = right + trailing * self._measures.space
        return Placed(index, text, fragment.kind, at, end, left, right, pen)

    def row_of(self, chip: int) -> int:
        """Return the row on which a chip begins."""
        row = bisect_left(self._first_chip, chip)
        if row >= len(self.rows) or self._first_chip[row] != chip or not self.rows[row]:
            row = bisect_right(self._first_chip, chip) - 1
        elif row and self.rows[row - 1] and self.rows[row - 1][-1].chip == chip:
            row -= 1
        return max(0, row)

    def parts_of(self, chip: int) -> list[tuple[int, Placed]]:
        """Return a chip's placed parts with their rows, in order."""
        parts: list[tuple[int, Placed]] = []
        for row in range(self.row_of(chip), len(self.rows)):
            if self._first_chip[row] > chip:
                break
            parts += [(row, one) for one in self.rows[row] if one.chip == chip]
        return parts


def ends_line(chip: Chip) -> bool:
    """Whether a row ends with a chip: the next one begins a line of the text."""
    return chip.fragments[-1].kind == "newline" and chip.fate not in _OUT_OF_TEXT


def _may_break(before: Placed, following: str) -> bool:
    """Whether a line may end between a placed fragment and the text after it."""
    if following.startswith(" ") or before.kind != "text" or before.end > before.right:
        return True
    return before.text[-1:] in _BREAK_AFTER or _wide(before.text[-1:]) or _wide(following[:1])


def _wide(character: str) -> bool:
    return bool(character) and unicodedata.east_asian_width(character) in ("W", "F")


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: a mark, a joiner, a selector."""
    return unicodedata.category(character) in ("Mn", "Me", "Mc") or character == "\u200d"
