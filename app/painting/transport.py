"""The shapes on the transport's buttons. Knows a painter and a colour; knows no button."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPolygonF

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

Shape = Literal[
    "start", "play", "pause", "step_phase", "step_round", "end", "last_marker", "next_marker"
]

# Each shape in a box of 16 x 16: rectangles (x, y, width, height) and triangles by their tips.
_BARS: dict[Shape, tuple[tuple[float, float, float, float], ...]] = {
    "start": ((2.5, 3, 2, 10),),
    "play": (),
    "pause": ((4, 3, 3, 10), (9, 3, 3, 10)),
    "step_phase": ((10.5, 6.5, 3, 3),),
    "step_round": ((10.5, 3, 2.5, 10),),
    "end": ((11.5, 3, 2, 10),),
    "last_marker": ((10.4, 2.5, 1.8, 11.5),),
    "next_marker": ((3.8, 2.5, 1.8, 11.5),),
}
_TRIANGLES: dict[Shape, tuple[tuple[float, float, float, float], ...]] = {
    # left edge, tip, top, bottom; the tip may be at the left
    "start": ((13.5, 5.5, 3, 13),),
    "play": ((4.5, 13.5, 2.5, 13.5),),
    "pause": (),
    "step_phase": ((2.5, 9.5, 3, 13),),
    "step_round": ((2.5, 9.5, 3, 13),),
    "end": ((2.5, 10.5, 3, 13),),
    "last_marker": ((10.4, 2.5, 2.5, 9.5),),  # pennants
    "next_marker": ((5.6, 13.5, 2.5, 9.5),),
}


def paint_shape(painter: QPainter, box: QRectF, shape: Shape, colour: str) -> None:
    """Paint a shape in the middle of a box."""
    scale = min(box.width(), box.height()) / 16.0
    left, top = box.center().x() - 8 * scale, box.center().y() - 8 * scale
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    for x, y, width, height in _BARS[shape]:
        bar = QRectF(left + x * scale, top + y * scale, width * scale, height * scale)
        painter.drawRoundedRect(bar, 0.8 * scale, 0.8 * scale)
    for edge, tip, upper, lower in _TRIANGLES[shape]:
        middle = (upper + lower) / 2
        points = [(edge, upper), (edge, lower), (tip, middle)]
        painter.drawPolygon(
            QPolygonF([QPointF(left + x * scale, top + y * scale) for x, y in points])
        )
