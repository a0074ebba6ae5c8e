"""Where the strip's fragments stand: rows of flowing text, laid out once and extended at the end.

Knows fonts, widths and line breaks. Knows no fate but those whose box needs room, no colour and no
painter. Rows are of one height, so a row is found by division and only visible ones are touched.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF

from app.painting.strip_changes import first_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.painting.strip_changes import Changed
    from app.viewmodels.chips import Chip, Fragment, FragmentKind

LINE_HEIGHT = 1.7  # of the font's size, so that marks and boxes have air
SMALL = 0.68  # size of bytes and of white space made visible
FULL_SIZE = ("text", "beyond")
_BOXED = frozenset(("correction", "bonus"))
_BARE = frozenset(("prompt", "plain"))  # without a background: a word of several tokens stays one
_ROUND_GAPS = 2.2  # room for the tick of a round's boundary, in gaps between chips
_OUT_OF_TEXT = frozenset(("rejected", "discarded", "cut"))  # their line ends end no line
_BREAK_AFTER = "-–—/"
_CACHED_WIDTHS = 1 << 17
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


class StripLayout:
    """Rows of placed fragments for the first chips of a list.

    Attributes
    ----------
    rows
        Each a list of `Placed`, from left to right; chips stand in logical order whatever the
        direction of their own text.
    laid_out
        How many chips were placed since the layout was made: tests count this work.
    measured
        How many characters were measured: tests count this, too.
    """

    def __init__(self, font: QFont, small_font: QFont, width: float) -> None:
        self.rows: list[list[Placed]] = [[]]
        self.laid_out = 0
        self.measured = 0
        self._first_chip: list[int] = [0]  # chip of each row's first fragment
        self._soft: list[bool] = [False]  # whether the row began by wrapping
        self._count = 0
        self.set_font(font, small_font)
        self.width = width

    def set_font(self, font: QFont, small_font: QFont) -> None:
        """Use these fonts; every chip has to be laid out again."""
        self.font, self.small_font = font, small_font
        self._metrics, self._small_metrics = QFontMetricsF(font), QFontMetricsF(small_font)
        self._widths: dict[str, float] = {}
        self._small_widths: dict[str, float] = {}
        self.em = self._metrics.ascent() + self._metrics.descent()
        self.row_height = float(round(self._metrics.height() * LINE_HEIGHT / 1.2))
        self.baseline = (self.row_height + self._metrics.capHeight()) / 2
        self.middle = self.baseline - self._metrics.xHeight() * 0.55
        self.space = self._metrics.horizontalAdvance(" ")
        self._gap = max(1.0, self.em * 0.05)
        self._pad = self.em * 0.14
        self._clear()

    def set_width(self, width: float) -> None:
        """Wrap at this width; every chip has to be laid out again if it differs."""
        if width != self.width:
            self.width = width
            self._clear()

    @property
    def count(self) -> int:
        """How many chips are laid out."""
        return self._count

    @property
    def height(self) -> float:
        """Height of all rows."""
        return len(self.rows) * self.row_height if self._count else 0.0

    def _clear(self) -> None:
        self.rows, self._first_chip, self._soft, self._count = [[]], [0], [False], 0

    def update(self, chips: Sequence[Chip], first: int) -> Changed:
        """Lay out `chips` again from index `first` on; return what differs by that."""
        self._count = min(self._count, first)
        row = self.row_of(self._count) if self._count else 0
        # A row begins where it does because of a fragment at most one row further: one that did
        # not fit and took the beginning of its word along. So two rows above are open, too.
        row = max(0, row - 2)
        while row > 0 and self._opens_inside_a_chip(row):
            row -= 1
        begin = self._first_chip[row] if row else 0
        before = self.rows[row:]
        del self.rows[row:], self._first_chip[row:]
        soft = self._soft[row]
        del self._soft[row:]
        self._open_row(begin, soft)
        for index in range(begin, len(chips)):
            self._place(index, chips[index])
        self.laid_out += len(chips) - begin
        self._count = len(chips)
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
            if placed.right <= self.width or fragment.kind == "newline":
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
            return self._gap * _ROUND_GAPS
        return self._gap * (0.3 if chip.fate in _BARE else 1.0)

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
            if _may_break(row[at], following) or row[at].end - row[at].start > self.width / 2:
                break
            following = (" " if row[at].left > row[at].start + self.space / 2 else "") + row[
                at
            ].text
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
            taken = self._fitting(text, fragment, self.width)
            part = fragment._replace(text=text[:taken])
            self.rows[-1].append(self._placed(index, part, 0.0, chip))
            text = text[taken:]
            if text:
                self._open_row(index, True)

    def _fitting(self, text: str, fragment: Fragment, room: float) -> int:
        """Count the characters, at least one, that fit; a mark stays with its letter.

        Costs what a row holds, however long the text is.
        """
        room -= 2 * self._pad
        least, most = 1, min(_FIRST_GUESS, len(text))
        while most < len(text) and self._advance(text[:most], fragment.kind) <= room:
            least, most = most, min(2 * most, len(text))
        while least < most:
            middle = (least + most + 1) // 2
            if self._advance(text[:middle], fragment.kind) <= room:
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
        pad = self._pad if chip.fate in _BOXED else 0.0 if chip.fate in _BARE else self._gap / 2
        leading = len(fragment.text) - len(fragment.text.lstrip(" ")) if text.strip(" ") else 0
        trailing = len(fragment.text) - leading - len(text)
        left = at + leading * self.space
        pen = left + pad
        right = pen + self._advance(text, fragment.kind) + pad
        end = right + trailing * self.space
        return Placed(index, text, fragment.kind, at, end, left, right, pen)

    def _advance(self, text: str, kind: FragmentKind) -> float:
        small = kind not in FULL_SIZE
        widths = self._small_widths if small else self._widths
        width = widths.get(text)
        if width is None:
            if len(widths) >= _CACHED_WIDTHS:
                widths.clear()
            metrics = self._small_metrics if small else self._metrics
            self.measured += len(text)
            width = widths[text] = metrics.horizontalAdvance(text)
        return width

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

    @property
    def inset(self) -> float:
        """Distance from a row's top and bottom to what fills and marks enclose."""
        return self.row_height * 0.12

    def box(self, row: int, placed: Placed) -> QRectF:
        """Return the rectangle that fills and marks enclose, below the layout's origin."""
        inset = self.inset
        top = row * self.row_height + inset
        return QRectF(placed.left, top, placed.right - placed.left, self.row_height - 2 * inset)

    def chip_at(self, x: float, y: float, *, nearest: bool = False) -> int | None:
        """Return the chip under a point; with `nearest`, the closest one on that height."""
        if not self._count:
            return None
        number = int(y // self.row_height)
        if nearest:
            number = min(max(number, 0), len(self.rows) - 1)
            while number and not self.rows[number]:
                number -= 1
        if not 0 <= number < len(self.rows) or not self.rows[number]:
            return None
        row = self.rows[number]
        at = bisect_right(row, x, key=lambda one: one.start) - 1
        if nearest:
            return row[max(0, at)].chip
        return row[at].chip if at >= 0 and x <= row[at].end else None


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
