"""The axes of a plot over rounds: where a value lies, ticks at round numbers, a second scale.

Knows a box, a font and a painter. Knows no curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPen

from app.painting.figures import tick_step
from app.painting.readings import scaled

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from PySide6.QtGui import QFont, QPainter

    from app.theme import Theme

    Array = npt.NDArray[np.float64]

_SMALL = 0.82  # of the ticks' numbers, of the font
_FEWEST_ROUNDS = 8  # the axis is never shorter: a first round stays a point, not a plot
_STEPS = 6  # that `tick_step` makes
_GAP = 6.0  # between numbers and the plot
_APART = 1.9  # least distance of two numbers on the axis of values, in lines
_AIR = 0.015  # of the axis of values, beyond its upper end


@dataclass(frozen=True)
class Axes:
    """Where rounds and values lie in `box`, and which of them are named.

    Attributes
    ----------
    left, right, below
        Ticks: values, values times a factor (at the values where they stand), rounds; each with its
        words.
    unit
        What is counted from left to right.
    """

    box: QRectF
    last: float
    top: float
    left: tuple[tuple[float, str], ...]
    right: tuple[tuple[float, str], ...]
    below: tuple[tuple[float, str], ...]
    unit: str

    @classmethod
    def of(
        cls, box: QRectF, rounds: int, top: float, factor: float | None, unit: str, font: QFont
    ) -> Axes:
        """Fit axes over rounds 1, ..., `rounds` and values 0, ..., `top` into a box."""
        metrics = QFontMetricsF(scaled(font, _SMALL))
        top = top if math.isfinite(top) and top > 0 else 1.0
        line = metrics.height()
        height = max(1.0, box.height() - 1.6 * line - 4)
        many = max(1.0, height / (_APART * line))
        left = _ticks(top, many)
        right: tuple[tuple[float, str], ...] = ()
        if factor is not None and factor > 0:
            right = tuple((at / factor, f"{words}×") for at, words in _ticks(top * factor, many))
        inset = max(metrics.horizontalAdvance(w) for w in (unit, *(one for _, one in left)))
        outset = max((metrics.horizontalAdvance(words) for _, words in right), default=0.0)
        plot = QRectF(box.left() + inset + _GAP, box.top() + 0.6 * line, 0, height)
        plot.setRight(box.right() - (outset + _GAP if right else 0.5 * line))
        plot.setWidth(max(1.0, plot.width()))
        last = float(max(rounds, _FEWEST_ROUNDS))
        widest = metrics.horizontalAdvance(f"{rounds:,}") + 2 * line
        below = _ticks(last, max(1.0, plot.width() / widest), least=1.0)
        below = tuple(tick for tick in below if tick[0] >= 1)
        return cls(plot, last, top, left, right, below, unit)

    @overload
    def x(self, at: float) -> float: ...

    @overload
    def x(self, at: Array) -> Array: ...

    def x(self, at: float | Array) -> float | Array:
        """Return where a round stands."""
        return self.box.left() + (at - 1.0) / (self.last - 1.0) * self.box.width()

    @overload
    def y(self, value: float) -> float: ...

    @overload
    def y(self, value: Array) -> Array: ...

    def y(self, value: float | Array) -> float | Array:
        """Return where a value lies."""
        return self.box.bottom() - value / ((1 + _AIR) * self.top) * self.box.height()


def _ticks(top: float, many: float, least: float = 0.0) -> tuple[tuple[float, str], ...]:
    """Return about so many round numbers from 0 to `top`, at most, with their words."""
    step = max(least, tick_step(top * _STEPS / min(many, _STEPS)))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    count = int(top / step + 1e-9)
    return tuple((index * step, f"{index * step:,.{digits}f}") for index in range(count + 1))


def paint_axes(painter: QPainter, axes: Axes, theme: Theme, font: QFont) -> None:
    """Paint the grid and the numbers."""
    small = scaled(font, _SMALL)
    metrics = QFontMetricsF(small)
    painter.setFont(small)
    box, middle = axes.box, (metrics.ascent() - metrics.descent()) / 2
    for value, words in axes.left:
        y = axes.y(value)
        painter.setPen(QPen(QColor(theme.outline if value == 0 else theme.grid), 1))
        painter.drawLine(QLineF(box.left(), y, box.right(), y))
        painter.setPen(QColor(theme.muted))
        left = box.left() - _GAP - metrics.horizontalAdvance(words)
        painter.drawText(QPointF(left, y + middle), words)
    painter.setPen(QColor(theme.muted))
    for value, words in axes.right:
        painter.drawText(QPointF(box.right() + _GAP, axes.y(value) + middle), words)
    baseline = box.bottom() + 0.9 * metrics.height() + 2
    free = box.left() - _GAP
    painter.drawText(QPointF(free - metrics.horizontalAdvance(axes.unit), baseline), axes.unit)
    for at, words in axes.below:
        half = metrics.horizontalAdvance(words) / 2
        x = axes.x(at)
        if x - half > free and x + half <= box.right() + _GAP:
            painter.drawText(QPointF(x - half, baseline), words)
            free = x + half + _GAP
