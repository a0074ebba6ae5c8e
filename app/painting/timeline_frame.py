"""The timeline's furniture: rows, ruler, probes' ticks, settings' flags, veil and cursor.

Knows where rows stand, a window of time, a theme and a painter. Knows no span and no widget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPen, QPolygonF

from app.painting.readings import scaled
from app.viewmodels.columns import PHASES
from app.viewmodels.time_window import tick_label, tick_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont, QPainter

    from app.theme import Theme
    from app.viewmodels.time_window import TimeWindow
    from app.viewmodels.timeline import TimelineModel

ACCEPTED_ROW = "accepted"
ROWS = (ACCEPTED_ROW, *PHASES)
_WEIGHTS = (1.0, 1.5, 1.5, 0.9, 0.9, 0.9)  # heights of the rows, beside each other
_LATER_ALPHA = 0.38  # of what the picture has not reached yet


@dataclass(frozen=True)
class Geometry:
    """Where the rows stand. All in pixels of the widget."""

    width: float
    height: float
    left: float  # right edge of the rows' names
    ruler: float  # height of the ruler on top
    gap: float = 3.0
    right: float = 8.0

    @classmethod
    def of(cls, width: float, height: float, font: QFont) -> Geometry:
        """Fit rows into a size."""
        metrics = QFontMetricsF(scaled(font, 0.85))
        left = max(metrics.horizontalAdvance(row) for row in ROWS) + 14
        return cls(width, height, left, metrics.height() + 8)

    @classmethod
    def least_height(cls, font: QFont) -> int:
        """Return the height from which on the rows' names stand clear of each other."""
        line = QFontMetricsF(scaled(font, 0.85)).height()
        unit = line / min(_WEIGHTS)
        return round(line + 8 + cls.gap + unit * sum(_WEIGHTS))

    @property
    def plot_width(self) -> float:
        """Pixels that time is laid over."""
        return max(1.0, self.width - self.left - self.right)

    def row(self, index: int) -> QRectF:
        """Return the box of a row, from the rows' names to the right edge."""
        unit = (self.height - self.ruler - self.gap) / sum(_WEIGHTS)
        top = self.ruler + unit * sum(_WEIGHTS[:index])
        height = max(2.0, unit * _WEIGHTS[index] - self.gap)
        return QRectF(self.left, top + self.gap / 2, self.plot_width, height)

    def row_at(self, y: float) -> int:
        """Return the row at a height, -1 above the first."""
        if y < self.ruler:
            return -1
        below = [i for i in range(len(ROWS)) if y < self.row(i).bottom() + self.gap / 2]
        return below[0] if below else len(ROWS) - 1


def phase_colour(theme: Theme, phase: str) -> str:
    """Return the colour of a phase."""
    colour: str = getattr(theme, f"phase_{phase}")
    return colour


def paint_rows(painter: QPainter, geometry: Geometry, theme: Theme, metrics: QFontMetricsF) -> None:
    """Paint each row's name, its phase's colour and its ground."""
    for i, row in enumerate(ROWS):
        box = geometry.row(i)
        painter.setPen(Qt.PenStyle.NoPen)
        if row != ACCEPTED_ROW:
            painter.setBrush(QColor(theme.raised))
            painter.drawRect(box)
            painter.setBrush(QColor(phase_colour(theme, row)))
            painter.drawRect(QRectF(0, box.top(), 3, box.height()))
        painter.setPen(QColor(theme.muted))
        y = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(8, y), row)


def paint_ruler(
    painter: QPainter,
    geometry: Geometry,
    window: TimeWindow,
    theme: Theme,
    metrics: QFontMetricsF,
    flags: Sequence[tuple[QRectF, str]] = (),
) -> None:
    """Paint instants of engine time, and a line through the rows at each.

    An instant whose name would run into a flag of `flags_of` keeps its line and goes unnamed.
    """
    step = tick_step(window.width_ns, window.pixels)
    tick = math.ceil(window.start_ns / step) * step
    y = geometry.ruler - 6 - metrics.descent()
    while tick <= window.end_ns:
        x = geometry.left + window.x_of(tick)
        painter.setPen(QPen(QColor(theme.grid), 1))
        painter.drawLine(QLineF(x, geometry.ruler - 4, x, geometry.height))
        label = tick_label(tick, step)
        end = x + 4 + metrics.horizontalAdvance(label)
        clear = all(end < flag.left() or x > flag.right() for flag, _ in flags)
        if clear and end <= geometry.width:
            painter.setPen(QColor(theme.muted))
            painter.drawText(QPointF(x + 3, y), label)
        tick += step


def paint_later(
    painter: QPainter, geometry: Geometry, window: TimeWindow, cursor_ns: float, theme: Theme
) -> None:
    """Veil what the picture has not reached."""
    left = max(0.0, window.x_of(cursor_ns))
    right = min(window.x_of(window.total_ns), geometry.plot_width)
    if right - left < 0.5 or left > geometry.plot_width:
        return
    veil = QColor(theme.base)
    veil.setAlphaF(1 - _LATER_ALPHA)
    height = geometry.height - geometry.ruler
    box = QRectF(geometry.left + left, geometry.ruler, right - left, height)
    painter.fillRect(box, veil)


def paint_probes(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    theme: Theme,
) -> int:
    """Paint a small triangle below the ruler for each probe; never more than fit."""
    first, last = np.searchsorted(model.probe_ns, [window.start_ns, window.end_ns])
    at = (
        geometry.left
        + (model.probe_ns[first : last + 1] - window.start_ns) / window.width_ns * window.pixels
    )
    at = at[(at >= geometry.left) & (at <= geometry.left + geometry.plot_width)]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.plain_rate))
    y = geometry.ruler
    tips = np.unique(np.round(at / 4) * 4 if len(at) > geometry.plot_width / 4 else at)
    for tip in tips.tolist():
        painter.drawPolygon(
            QPolygonF([QPointF(tip - 3, y - 5), QPointF(tip + 3, y - 5), QPointF(tip, y)])
        )
    return len(tips)


def _marks_in(
    geometry: Geometry, model: TimelineModel, window: TimeWindow
) -> list[tuple[float, str]]:
    at = [(geometry.left + window.x_of(mark.at_ns), mark.label) for mark in model.marks]
    right = geometry.left + geometry.plot_width + 1
    return [(x, label) for x, label in at if geometry.left - 1 <= x <= right]


def flags_of(
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    metrics: QFontMetricsF,
    taken: Sequence[QRectF] = (),
) -> list[tuple[QRectF, str]]:
    """Return where the flags of changed settings stand; one that would overlap is left out.

    Parameters
    ----------
    taken
        Boxes of markers' pennants, which someone put there.
    """
    flags: list[tuple[QRectF, str]] = []
    free = -1e9
    for x, whole in _marks_in(geometry, model, window):
        label = metrics.elidedText(whole, Qt.TextElideMode.ElideRight, geometry.plot_width - 10)
        width = metrics.horizontalAdvance(label) + 10
        left = min(x, geometry.left + geometry.plot_width - width)
        clear = all(left + width < box.left() - 2 or left > box.right() + 2 for box in taken)
        if left >= free and clear:
            flags.append((QRectF(left, 1, width, metrics.height() + 1), label))
            free = left + width + 4
    return flags


def paint_marks(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    theme: Theme,
    flags: Sequence[tuple[QRectF, str]],
) -> int:
    """Paint a line for each change of settings, and the flags of `flags_of`."""
    shown = _marks_in(geometry, model, window)
    painter.setPen(QPen(QColor(theme.residual), 1, Qt.PenStyle.DashLine))
    for x, _ in shown:
        painter.drawLine(QLineF(x, 2, x, geometry.height))
    painter.setPen(QPen(QColor(theme.residual), 1))
    painter.setBrush(QColor(theme.base))
    for flag, label in flags:
        painter.drawRoundedRect(flag, 3, 3)
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, label)
    return len(shown)


def paint_cursor(
    painter: QPainter, geometry: Geometry, window: TimeWindow, cursor_ns: float, theme: Theme
) -> None:
    """Paint the scrubber where the picture stands."""
    x = window.x_of(cursor_ns)
    if not -1 <= x <= geometry.plot_width + 1:
        return
    x += geometry.left
    painter.setPen(QPen(QColor(theme.text), 1.5))
    painter.drawLine(QLineF(x, 6, x, geometry.height))
    painter.setPen(QPen(QColor(theme.base), 1))
    painter.setBrush(QColor(theme.text))
    top = 1.0
    handle = [(-5.5, 0), (5.5, 0), (5.5, 7), (0, 13), (-5.5, 7)]
    painter.drawPolygon(QPolygonF([QPointF(x + dx, top + dy) for dx, dy in handle]))
