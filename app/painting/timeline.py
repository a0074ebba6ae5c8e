"""Paint a timeline: a row per phase, a row of accepted counts, ticks, marks and the cursor.

Knows the timeline's viewmodel, a window of time, a theme and a painter. Knows no widget. Paints
only what is on screen: spans while they are few, and shares per pixel column where they are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPen, QPolygonF

from app.painting.readings import scaled
from app.viewmodels.columns import PHASES
from app.viewmodels.time_window import tick_label, tick_step

if TYPE_CHECKING:
    import numpy.typing as npt
    from PySide6.QtGui import QFont, QPainter

    from app.theme import Theme
    from app.viewmodels.time_window import TimeWindow
    from app.viewmodels.timeline import TimelineModel

    Array = npt.NDArray[np.float64]

_NARROWEST_ROUND_PX = 5.0  # below this, columns of shares are painted instead of spans
_COLUMN_PX = 2
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


@dataclass
class Work:
    """What one paint drew, so that a test can count it."""

    spans: int = 0
    columns: int = 0
    marks: int = 0
    ticks: int = 0


def phase_colour(theme: Theme, phase: str) -> str:
    """Return the colour of a phase."""
    colour: str = getattr(theme, f"phase_{phase}")
    return colour


def paint_timeline(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    cursor_ns: float,
    theme: Theme,
    font: QFont,
    hovered: tuple[int, str] | None = None,
) -> Work:
    """Paint everything that `window` shows and return how much that was."""
    work = Work()
    small = scaled(font, 0.85)
    painter.setFont(small)
    metrics = QFontMetricsF(small)
    _paint_rows(painter, geometry, theme, metrics)
    _paint_ruler(painter, geometry, window, theme, metrics)
    if not len(model):
        painter.setPen(QColor(theme.muted))
        box = QRectF(
            geometry.left, geometry.ruler, geometry.plot_width, geometry.height - geometry.ruler
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "no round yet")
        return work
    painter.save()
    painter.setClipRect(QRectF(geometry.left, 0, geometry.plot_width + 1, geometry.height))
    first, last = model.rounds_between(window.start_ns, window.end_ns)
    if (last - first) * _NARROWEST_ROUND_PX <= geometry.plot_width:
        _paint_spans(painter, geometry, model, window, (first, last), theme, hovered, work)
        _paint_accepted(painter, geometry, model, window, (first, last), theme, metrics)
    else:
        _paint_columns(painter, geometry, model, window, theme, work)
    _paint_later(painter, geometry, window, cursor_ns, theme)
    _paint_probes(painter, geometry, model, window, theme, work)
    _paint_marks(painter, geometry, model, window, theme, metrics, work)
    painter.restore()
    _paint_cursor(painter, geometry, window, cursor_ns, theme)
    return work


def _paint_rows(
    painter: QPainter, geometry: Geometry, theme: Theme, metrics: QFontMetricsF
) -> None:
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


def _paint_ruler(
    painter: QPainter, geometry: Geometry, window: TimeWindow, theme: Theme, metrics: QFontMetricsF
) -> None:
    step = tick_step(window.width_ns, window.pixels)
    tick = np.ceil(window.start_ns / step) * step
    y = geometry.ruler - 6 - metrics.descent()
    while tick <= window.end_ns:
        x = geometry.left + window.x_of(tick)
        painter.setPen(QPen(QColor(theme.grid), 1))
        painter.drawLine(QLineF(x, geometry.ruler - 4, x, geometry.height))
        label = tick_label(tick, step)
        if x + 4 + metrics.horizontalAdvance(label) <= geometry.width:
            painter.setPen(QColor(theme.muted))
            painter.drawText(QPointF(x + 3, y), label)
        tick += step


def _paint_spans(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    rounds: tuple[int, int],
    theme: Theme,
    hovered: tuple[int, str] | None,
    work: Work,
) -> None:
    boxes = {phase: geometry.row(i) for i, phase in enumerate(ROWS)}
    brushes = {phase: QColor(phase_colour(theme, phase)) for phase in PHASES}
    painter.setPen(Qt.PenStyle.NoPen)
    for span in model.spans(*rounds):
        left, right = window.x_of(span.start_ns), window.x_of(span.end_ns)
        if right < 0 or left > geometry.plot_width:
            continue
        box = boxes[span.phase]
        # At least a hair wide: 0.1 ms beside 30 ms would vanish.
        if right - left < 2:
            x = round(geometry.left + left)
            painter.fillRect(QRectF(x, box.top(), 1, box.height()), brushes[span.phase])
            shape = QRectF(x, box.top(), 1, box.height())
        else:
            width = right - left - (1.0 if right - left > 4 else 0.0)
            shape = QRectF(geometry.left + left, box.top(), width, box.height())
            painter.setBrush(brushes[span.phase])
            radius = min(3.0, width / 3)
            painter.drawRoundedRect(shape, radius, radius)
        work.spans += 1
        if hovered == (span.round, span.phase):
            painter.setPen(QPen(QColor(theme.text), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(shape.adjusted(0, 0, 1, 0), 3, 3)
            painter.setPen(Qt.PenStyle.NoPen)


def _paint_accepted(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    rounds: tuple[int, int],
    theme: Theme,
    metrics: QFontMetricsF,
) -> None:
    box = geometry.row(0)
    y = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
    for index in range(*rounds):
        start, end = model.round_bounds_ns(index)
        left, right = geometry.left + window.x_of(start), geometry.left + window.x_of(end)
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.drawLine(QLineF(right, box.top(), right, geometry.height))
        text = str(model.accepted(index))
        if metrics.horizontalAdvance(text) + 2 <= right - left:
            painter.setPen(QColor(theme.fates["accepted"].colour))
            middle = (left + right - metrics.horizontalAdvance(text)) / 2
            painter.drawText(QPointF(middle, y), text)
        else:
            _accepted_bar(painter, box, left, right, model.accepted(index), model, theme)


def _accepted_bar(
    painter: QPainter,
    box: QRectF,
    left: float,
    right: float,
    accepted: float,
    model: TimelineModel,
    theme: Theme,
) -> None:
    height = box.height() * min(1.0, accepted / model.largest_k)
    colour = QColor(theme.fates["accepted"].colour)
    painter.fillRect(QRectF(left, box.bottom() - height, right - left, height), colour)


def _paint_columns(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    theme: Theme,
    work: Work,
) -> None:
    count = int(np.ceil(geometry.plot_width / _COLUMN_PX))
    edges: Array = window.start_ns + np.arange(count + 1.0) * (
        window.width_ns * _COLUMN_PX / window.pixels
    )
    for phase, shares in model.shares(edges).items():
        box = geometry.row(ROWS.index(phase))
        colour = QColor(phase_colour(theme, phase))
        for column in np.flatnonzero(shares > 0).tolist():
            height = max(1.0, box.height() * min(1.0, float(shares[column])))
            x = geometry.left + column * _COLUMN_PX
            painter.fillRect(QRectF(x, box.bottom() - height, _COLUMN_PX, height), colour)
            work.columns += 1
    box = geometry.row(0)
    for i, mean in enumerate(model.mean_accepted(edges)):
        if mean > 0:
            x = geometry.left + i * _COLUMN_PX
            _accepted_bar(painter, box, x, x + _COLUMN_PX, float(mean), model, theme)


def _paint_later(
    painter: QPainter, geometry: Geometry, window: TimeWindow, cursor_ns: float, theme: Theme
) -> None:
    """Veil what the picture has not reached."""
    left = max(0.0, window.x_of(cursor_ns))
    right = window.x_of(window.total_ns)
    if right - left < 0.5 or left > geometry.plot_width:
        return
    veil = QColor(theme.base)
    veil.setAlphaF(1 - _LATER_ALPHA)
    box = QRectF(geometry.left + left, geometry.ruler, right - left, geometry.height)
    painter.fillRect(box, veil)


def _paint_probes(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    theme: Theme,
    work: Work,
) -> None:
    """Paint a small triangle below the ruler for each probe; never more than fit."""
    first, last = np.searchsorted(model.probe_ns, [window.start_ns, window.end_ns])
    at = (
        geometry.left
        + (model.probe_ns[first : last + 1] - window.start_ns) / window.width_ns * window.pixels
    )
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.plain_rate))
    y = geometry.ruler
    for x in np.unique(np.round(at / 4) * 4 if len(at) > geometry.plot_width / 4 else at):
        tip = float(x)
        painter.drawPolygon(
            QPolygonF([QPointF(tip - 3, y - 5), QPointF(tip + 3, y - 5), QPointF(tip, y)])
        )
        work.ticks += 1


def _paint_marks(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    theme: Theme,
    metrics: QFontMetricsF,
    work: Work,
) -> None:
    """Paint a line and a flag for each change of settings; flags that overlap are left out."""
    free = -1e9
    for mark in model.marks:
        x = geometry.left + window.x_of(mark.at_ns)
        if not geometry.left - 1 <= x <= geometry.width:
            continue
        work.marks += 1
        painter.setPen(QPen(QColor(theme.residual), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(x, 2, x, geometry.height))
        width = metrics.horizontalAdvance(mark.label) + 10
        if x < free:
            continue
        left = min(x, geometry.width - width - 1)
        flag = QRectF(left, 1, width, metrics.height() + 1)
        painter.setPen(QPen(QColor(theme.residual), 1))
        painter.setBrush(QColor(theme.base))
        painter.drawRoundedRect(flag, 3, 3)
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, mark.label)
        free = left + width + 4


def _paint_cursor(
    painter: QPainter, geometry: Geometry, window: TimeWindow, cursor_ns: float, theme: Theme
) -> None:
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
