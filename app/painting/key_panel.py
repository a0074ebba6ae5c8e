"""The readings that tell a run, as large as their box allows. Knows a moment, a box and a theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.painting.reading_rows import paint_readings
from app.painting.readings import gap, needed_widths, row_height
from app.painting.room import Room
from app.viewmodels.run_words import key_readings

if TYPE_CHECKING:
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QFont, QPainter

    from app.painting.moment import Moment
    from app.theme import Theme
    from app.viewmodels.readings import Reading

_MARGIN = (14.0, 8.0)
_TIGHT = 0.9  # of the wanted width a row still looks well
_LINE_GAP = 4.0
_SPLIT = 3  # in two rows, so many stand in the first


class KeyPanel:
    """Speed-up, acceptance, tokens per pass and both rates."""

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment, self._font = moment, font
        self._made: tuple[int, int] | None = None
        self._readings: tuple[Reading, ...] = ()

    def height(self, width: float, most: float) -> float:
        """Return the height that looks best at a width, never more than `most`; 0: leave it out."""
        inner, down = width - 2 * _MARGIN[0], 2 * _MARGIN[1]
        large, small = (row_height(self._font, compact=flag) for flag in (False, True))
        wanted = large if self._fits(inner, compact=False) else 2 * large + _LINE_GAP
        for height in (wanted, large, small):
            if height + down <= most:
                return height + down
        return 0.0

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint them in one row, in two, or the first ones in a small row."""
        across, down = _MARGIN
        inner, font = box.adjusted(across, down, -across, -down), self._font
        readings = self._now()
        large = row_height(font, compact=False)
        if inner.height() + 0.01 < large:
            shown = self._as_fit(readings, inner.width(), compact=True)
            paint_readings(painter, inner, shown, theme, font, compact=True)
        elif self._fits(inner.width(), compact=False):
            paint_readings(painter, inner, readings, theme, font)
        elif inner.height() + 0.01 >= 2 * large + _LINE_GAP:
            room = Room(inner)
            for first, part in ((True, readings[:_SPLIT]), (False, readings[_SPLIT:])):
                line = room.top(large, gap=_LINE_GAP if first else 0.0)
                if line is not None:
                    paint_readings(painter, line, part, theme, font, lead=first)
        else:
            shown = self._as_fit(readings, inner.width(), compact=False)
            paint_readings(painter, inner, shown, theme, font)

    def _now(self) -> tuple[Reading, ...]:
        document = self._moment.document
        made = (document.version, self._moment.presentation.visible_rounds())
        if made != self._made:
            self._made, self._readings = made, key_readings(document, made[1])
        return self._readings

    def _fits(self, width: float, *, compact: bool) -> bool:
        return len(self._as_fit(self._now(), width, compact=compact)) == len(self._now())

    def _as_fit(
        self, readings: tuple[Reading, ...], width: float, *, compact: bool
    ) -> tuple[Reading, ...]:
        """Return as many of the first readings as a row has room for, at least one."""
        needs = needed_widths(readings, self._font, compact=compact)
        between = gap(compact=compact)
        for count in range(len(readings), 1, -1):
            if _TIGHT * sum(needs[:count]) + between * (count - 1) <= width:
                return readings[:count]
        return readings[:1]
