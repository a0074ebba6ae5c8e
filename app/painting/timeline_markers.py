"""Markers on the timeline: a line at the moment and a pennant with the title on top of it.

Knows the timeline's geometry, a window of time, a theme and a painter. Knows no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen, QPolygonF

from app.viewmodels.markers import headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFontMetricsF, QPainter

    from app.painting.timeline_frame import Geometry
    from app.theme import Theme
    from app.viewmodels.time_window import TimeWindow
    from app.viewmodels.timeline import TimelineModel

Pennant = tuple[QRectF, str, float]  # its box, its label ("" where there is no room), its line's x

_BARE = 9.0  # width of a pennant without a label
_TIP = 4.0
_PAD = 8.0  # the scrubber's handle reaches 6 to each side of its line
_MOST_LABEL = 170.0


def pennants_of(
    geometry: Geometry, model: TimelineModel, window: TimeWindow, metrics: QFontMetricsF
) -> list[Pennant]:
    """Return where pennants stand: from one line to the next, labelled where words have room.

    At the right edge a pennant flies to the left of its line.
    """
    right = geometry.left + geometry.plot_width
    lines = [(geometry.left + window.x_of(flag.at_ns), flag.marker) for flag in model.flags]
    lines = [(x, marker) for x, marker in lines if geometry.left - 1 <= x <= right + 1]
    height = metrics.height() + 1
    out: list[Pennant] = []
    for number, (x, marker) in enumerate(lines):
        free_left = out[-1][0].right() if out else geometry.left
        free_right = lines[number + 1][0] if number + 1 < len(lines) else right
        after, before = free_right - x, x - free_left
        whole = metrics.horizontalAdvance(headline(marker)) + 2 * _PAD + _TIP + 2
        leftwards = number + 1 == len(lines) and after < min(whole, before)
        room = min(_MOST_LABEL, (before if leftwards else after) - 2 * _PAD - _TIP - 2)
        label = metrics.elidedText(headline(marker), Qt.TextElideMode.ElideRight, room)
        label = label if room > metrics.averageCharWidth() * 3 else ""
        width = metrics.horizontalAdvance(label) + 2 * _PAD + _TIP if label else _BARE
        left = x - width if leftwards else x
        out.append((QRectF(left, 1, width, height), label, x))
    return out


def paint_pennants(
    painter: QPainter,
    geometry: Geometry,
    model: TimelineModel,
    window: TimeWindow,
    theme: Theme,
    pennants: Sequence[Pennant],
) -> None:
    """Paint the lines, then the pennants of `pennants_of`."""
    painter.setPen(QPen(QColor(theme.accent), 1.5))
    for _, _, x in pennants:
        painter.drawLine(QLineF(x, 1, x, geometry.height))
    for box, label, x in pennants:
        flies_left = box.left() < x - 1
        tip, pole = (box.left(), box.right()) if flies_left else (box.right(), box.left())
        notch = tip + _TIP if flies_left else tip - _TIP
        shape = [
            QPointF(pole, box.top()),
            QPointF(tip, box.top()),
            QPointF(notch, box.center().y()),
            QPointF(tip, box.bottom()),
            QPointF(pole, box.bottom()),
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent))
        painter.drawPolygon(QPolygonF(shape))
        if label:
            painter.setPen(QColor(theme.on_accent))
            inner = box.adjusted(_PAD + _TIP * flies_left, 0, -_PAD - _TIP * (not flies_left), 0)
            painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, label)
