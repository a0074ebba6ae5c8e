"""Paint the strip: flowing text, each token with the colour and the mark of its fate.

Draws what a layout placed, and of that only the rows asked for. Knows no document, no widget and
no clock, so a frame of an export is the window's own picture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.painting.marks import paint_fill, paint_mark
from app.painting.strip_layout import FULL_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.painting.strip_layout import Placed, StripLayout
    from app.theme import Theme
    from app.viewmodels.chips import Chip


@dataclass(frozen=True)
class Highlights:
    """Chips that stand out, by index; None: no such chip.

    Attributes
    ----------
    hovered
        Under the pointer.
    pinned
        Shown in the court.
    focused
        Reached with the keyboard, while the strip has the focus.
    sources
        What an n-gram drafter copied the draft of the hovered or pinned token from.
    source
        The one of them that this token was copied from.
    """

    hovered: int | None = None
    pinned: int | None = None
    focused: int | None = None
    sources: frozenset[int] = field(default_factory=frozenset)
    source: int | None = None


NO_HIGHLIGHTS = Highlights()
_RING = 6.0  # how far a ring may stand out at the sides
_TIE = (0.42, 0.15)  # of the font's height: half of the arc over a shared character
_QUARTER = 90 * 16  # of a circle, as Qt counts angles


def paint_strip(
    painter: QPainter,
    rect: QRectF,
    layout: StripLayout,
    chips: Sequence[Chip],
    theme: Theme,
    *,
    scroll: float = 0.0,
    highlights: Highlights = NO_HIGHLIGHTS,
    part: QRectF | None = None,
) -> int:
    """Paint the rows of a layout that lie in `rect` and return how many items were painted.

    Parameters
    ----------
    rect
        The visible part, in the painter's coordinates; row 0 begins at its top less `scroll`.
    layout, chips
        The chips, laid out.
    scroll
        Distance from the first row's top to the top of `rect`.
    part
        Paint only this part of `rect`: what lies outside stands as it was painted before.
    """
    whole = rect.adjusted(-_RING, 0, _RING, 0)
    clip = whole if part is None else whole.intersected(part)
    top, bottom = (scroll + edge - rect.top() for edge in (clip.top(), clip.bottom()))
    # Rings alone stand on the lower edge of a row.
    first = max(0, int((top + layout.inset) // layout.row_height))
    last = min(len(layout.rows), int(bottom // layout.row_height) + 1)
    left, right = (
        edge - rect.left() for edge in (clip.left() - layout.em, clip.right() + layout.em)
    )
    painter.save()
    painter.setClipRect(clip)
    painter.translate(rect.left(), rect.top() - scroll)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # of each chip by itself
    work = _Work(painter, layout, chips, theme, highlights)
    for row in range(first, last):
        for placed in layout.rows[row]:
            if placed.right >= left and placed.left <= right:
                work.paint(row, placed)
    for row in range(max(0, first - 1), last):
        work.outline(row)
    painter.restore()
    return work.items


class _Work:
    """One painting of some rows."""

    def __init__(
        self,
        painter: QPainter,
        layout: StripLayout,
        chips: Sequence[Chip],
        theme: Theme,
        highlights: Highlights,
    ) -> None:
        self.items = 0
        self._painter, self._layout, self._chips = painter, layout, chips
        self._theme, self._highlights = theme, highlights
        self._chip = -1  # of the last fragment painted

    def paint(self, row: int, placed: Placed) -> None:
        """Paint one fragment: background, text, mark."""
        chip = self._chips[placed.chip]
        style = self._theme.fates[chip.fate]
        box = self._layout.box(row, placed)
        baseline = row * self._layout.row_height + self._layout.baseline
        if placed.chip in self._highlights.sources:
            self._fill(box, self._theme.accent_soft)
            self.items += 1
        elif placed.kind != "beyond":
            paint_fill(self._painter, box, style, self._theme.base)
        if chip.starts_round and placed.chip != self._chip and self._opens(row, placed):
            self._tick(placed, box)
        self._chip = placed.chip
        quiet = placed.kind in ("space", "newline", "beyond")
        full = placed.kind in FULL_SIZE
        self._painter.setFont(self._layout.font if full else self._layout.small_font)
        self._painter.setPen(QColor(self._theme.muted if quiet else style.colour))
        self._painter.drawText(QPointF(placed.pen, baseline), placed.text)
        if placed.chip in (self._highlights.hovered, self._highlights.focused):
            self._show_spaces(placed, baseline)
        middle = row * self._layout.row_height + self._layout.middle
        paint_mark(self._painter, box, baseline, middle, style)
        if chip.shares_before or chip.shares_after:
            self._tie(box, placed, chip, style.colour)
        if placed.kind == "beyond":
            self._end_of_text(row, placed, box)
        self.items += 1

    def outline(self, row: int) -> None:
        """Paint what stands out on a row, over its neighbours."""
        chosen = self._highlights
        for placed in self._layout.rows[row]:
            if placed.chip == chosen.focused:
                self._ring(row, placed, self._theme.focus, 2.0, 3.0)
            if placed.chip == chosen.pinned:
                self._ring(row, placed, self._theme.text, 1.6, 0.5)
            elif placed.chip in (chosen.hovered, chosen.source):
                self._ring(row, placed, self._theme.accent, 1.0, 0.5)

    def _opens(self, row: int, placed: Placed) -> bool:
        """Whether this is the first part of its chip, and not one that was wrapped."""
        above = self._layout.rows[row - 1] if row else []
        own_row = self._layout.rows[row]
        return own_row[0] is not placed or not above or above[-1].chip != placed.chip

    def _fill(self, box: QRectF, colour: str) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(QColor(colour))
        self._painter.drawRoundedRect(box, 3, 3)

    def _tick(self, placed: Placed, box: QRectF) -> None:
        """Paint a round's boundary: a short upright line in the gap before its first token."""
        em = self._layout.em
        x = max(0.5, placed.left - em * 0.09)
        pen = QPen(QColor(self._theme.outline), max(1.0, em / 16))
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        self._painter.setPen(pen)
        top = box.top() - em * 0.12
        self._painter.drawLine(QLineF(x, top, x, top + em * 0.3))
        self.items += 1

    def _show_spaces(self, placed: Placed, baseline: float) -> None:
        """Paint a dot for each space at the ends of a text."""
        if placed.kind != "text":
            return
        self._painter.setPen(QColor(self._theme.muted))
        space = self._layout.space
        height = baseline - self._layout.em * 0.25
        for start, end in ((placed.start, placed.left), (placed.right, placed.end)):
            for number in range(round((end - start) / space)):
                self._painter.drawPoint(QPointF(start + (number + 0.5) * space, height))

    def _tie(self, box: QRectF, placed: Placed, chip: Chip, colour: str) -> None:
        """Paint half of an arc over the edge at which a character is shared with a neighbour."""
        wide, high = self._layout.em * _TIE[0], self._layout.em * _TIE[1]
        pen = QPen(QColor(colour), max(1.2, self._layout.em / 13))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        self._painter.setPen(pen)
        parts = [one for _, one in self._layout.parts_of(placed.chip)]
        top = box.top() - high
        if chip.shares_before and parts[0] == placed:
            around = QRectF(box.left() - wide, top, 2 * wide, 2 * high)
            self._painter.drawArc(around, 0, _QUARTER)
            self.items += 1
        if chip.shares_after and parts[-1] == placed:
            around = QRectF(box.right() - wide, top, 2 * wide, 2 * high)
            self._painter.drawArc(around, _QUARTER, _QUARTER)
            self.items += 1

    def _end_of_text(self, row: int, placed: Placed, box: QRectF) -> None:
        """Paint a line where a stop string cut the text."""
        cut = self._chips[placed.chip].cut
        beyond = [part for part in self._layout.parts_of(placed.chip) if part[1].kind == "beyond"]
        if cut is None or not cut.first or beyond[0] != (row, placed):
            return
        x = max(0.5, placed.left)
        pen = QPen(QColor(self._theme.text), max(1.5, self._layout.em / 12))
        pen.setDashPattern([2.0, 1.2])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        self._painter.setPen(pen)
        over = self._layout.em * 0.12
        self._painter.drawLine(QLineF(x, box.top() - over, x, box.bottom() + over))
        self.items += 1

    def _ring(self, row: int, placed: Placed, colour: str, width: float, away: float) -> None:
        box = self._layout.box(row, placed).adjusted(-away, -away, away, away)
        self._painter.setPen(QPen(QColor(colour), width))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawRoundedRect(box, 4, 4)
        self.items += 1
