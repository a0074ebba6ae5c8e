"""Paint a timeline: a row per phase and a row of accepted counts, inside its furniture.

Knows the timeline's viewmodel, a window of time, a theme and a painter. Knows no widget. Paints
only what is on screen: spans while they are few, and shares per pixel column where they are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPen

from app.painting.readings import scaled
from app.painting.timeline_frame import (
    ROWS,
    Geometry,
    flags_of,
    paint_cursor,
    paint_later,
    paint_marks,
    paint_probes,
    paint_rows,
    paint_ruler,
    phase_colour,
)
from app.painting.timeline_markers import paint_pennants, pennants_of
from app.viewmodels.columns import PHASES

if TYPE_CHECKING:
    import numpy.typing as npt
    from PySide6.QtGui import QFont, QPainter

    from app.theme import Theme
    from app.viewmodels.time_window import TimeWindow
    from app.viewmodels.timeline import TimelineModel

    Array = npt.NDArray[np.float64]

_NARROWEST_ROUND_PX = 5.0  # below this, columns of shares are painted instead of spans
_COLUMN_PX = 2


@dataclass
class Work:
    """What one paint drew, so that a test can count it."""

    spans: int = 0
    columns: int = 0
    marks: int = 0
    ticks: int = 0


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
    paint_rows(painter, geometry, theme, metrics)
    if not len(model):
        painter.setPen(QColor(theme.muted))
        box = QRectF(
            geometry.left, geometry.ruler, geometry.plot_width, geometry.height - geometry.ruler
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, model.empty)
        return work
    pennants = pennants_of(geometry, model, window, metrics)
    flags = flags_of(geometry, model, window, metrics, [box for box, _, _ in pennants])
    taken = [*flags, *((box, label) for box, label, _ in pennants)]
    paint_ruler(painter, geometry, window, theme, metrics, taken)
    painter.save()
    painter.setClipRect(QRectF(geometry.left, 0, geometry.plot_width + 1, geometry.height))
    first, last = model.rounds_between(window.start_ns, window.end_ns)
    if (last - first) * _NARROWEST_ROUND_PX <= geometry.plot_width:
        _paint_spans(painter, geometry, model, window, (first, last), theme, hovered, work)
        _paint_accepted(painter, geometry, model, window, (first, last), theme, metrics)
    else:
        _paint_columns(painter, geometry, model, window, theme, work)
    paint_later(painter, geometry, window, cursor_ns, theme)
    work.ticks = paint_probes(painter, geometry, model, window, theme)
    work.marks = paint_marks(painter, geometry, model, window, theme, flags)
    paint_pennants(painter, geometry, model, window, theme, pennants)
    painter.restore()
    paint_cursor(painter, geometry, window, cursor_ns, theme)
    return work


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
    painter.setPen(QPen(QColor(theme.border), 1))
    for index in range(*rounds):
        x = round(geometry.left + window.x_of(model.round_bounds_ns(index)[1])) + 0.5
        if x > geometry.left + geometry.plot_width + 1:
            continue
        painter.drawLine(QLineF(x, geometry.row(0).top(), x, geometry.height))
    boxes = {phase: geometry.row(i) for i, phase in enumerate(ROWS)}
    brushes = {phase: QColor(phase_colour(theme, phase)) for phase in PHASES}
    painter.setPen(Qt.PenStyle.NoPen)
    for span in model.spans(*rounds):
        left, right = window.x_of(span.start_ns), window.x_of(span.end_ns)
        if right < 0 or left > geometry.plot_width:
            continue
        # An SVG knows no clip: nothing may stand out by itself.
        left, right = max(left, 0.0), min(right, geometry.plot_width)
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
        text = model.accepted_label(index)
        wanted, whole = metrics.horizontalAdvance(text) + 2, right - left
        left, right = max(left, box.left()), min(right, box.right())
        if wanted <= right - left:
            painter.setPen(QColor(theme.fates["accepted"].colour))
            middle = (left + right - metrics.horizontalAdvance(text)) / 2
            painter.drawText(QPointF(middle, y), text)
        elif wanted > whole:
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
