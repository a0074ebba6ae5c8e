"""The icons of the toolbar and the buttons, painted from lines, in a theme's colours.

Knows shapes in a square of 24 units. Knows no action and no widget.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

_SIZES = (16, 20, 24, 32, 40, 48, 64)
_FILLED = frozenset({"run", "play", "pause", "stop"})

Points = tuple[tuple[float, float], ...]

_TRIANGLE: tuple[Points, ...] = (
    ((12, 3.5), (21.5, 20), (2.5, 20), (12, 3.5)),
    ((12, 9.5), (12, 14)),
    ((12, 16.8), (12, 17)),
)

# Each icon is a list of polylines; a closed one repeats its first point.
_LINES: dict[str, tuple[Points, ...]] = {
    "run": (((7, 4.5), (19.5, 12), (7, 19.5), (7, 4.5)),),
    "play": (((7, 4.5), (19.5, 12), (7, 19.5), (7, 4.5)),),
    "pause": (
        ((6.5, 5), (10, 5), (10, 19), (6.5, 19), (6.5, 5)),
        ((14, 5), (17.5, 5), (17.5, 19), (14, 19), (14, 5)),
    ),
    "stop": (((6, 6), (18, 6), (18, 18), (6, 18), (6, 6)),),
    "step_round": (
        ((5, 5), (14, 12), (5, 19), (5, 5)),
        ((18, 5), (18, 19)),
    ),
    "step_phase": (
        ((4.5, 12), (14.5, 12)),
        ((10.5, 7.5), (15, 12), (10.5, 16.5)),
        ((19, 8), (19, 16)),
    ),
    "clear": (
        ((4, 7), (20, 7)),
        ((9, 7), (9, 4), (15, 4), (15, 7)),
        ((6, 7), (7, 20), (17, 20), (18, 7)),
        ((10, 11), (10.4, 16)),
        ((14, 11), (13.6, 16)),
    ),
    "open": (
        ((3, 19), (3, 5), (9, 5), (11, 8), (20, 8), (20, 11)),
        ((3, 19), (6.5, 11), (22, 11), (18.5, 19), (3, 19)),
    ),
    "save": (
        ((4, 4), (16.5, 4), (20, 7.5), (20, 20), (4, 20), (4, 4)),
        ((8, 4), (8, 9), (15, 9), (15, 4)),
        ((7.5, 20), (7.5, 13), (16.5, 13), (16.5, 20)),
    ),
    "export": (
        ((12, 15), (12, 3.5)),
        ((7.5, 8), (12, 3.5), (16.5, 8)),
        ((4, 14), (4, 20), (20, 20), (20, 14)),
    ),
    "error": _TRIANGLE,
    "warning": _TRIANGLE,
    "search": (((14.5, 14.5), (20, 20)),),
    "notice": (((12, 11), (12, 17)), ((12, 7.3), (12, 7.5))),
    "folder": (((3, 19), (3, 5), (9, 5), (11, 8), (21, 8), (21, 19), (3, 19)),),
    "models": (
        ((4, 7), (12, 3), (20, 7), (12, 11), (4, 7)),
        ((4, 12), (12, 16), (20, 12)),
        ((4, 17), (12, 21), (20, 17)),
    ),
}
_CIRCLES = {"notice": QRectF(3, 3, 18, 18), "search": QRectF(4, 4, 12, 12)}


def icon(name: str, colour: str, disabled: str) -> QIcon:
    """Return an icon in one colour, sharp at every common size and device ratio."""
    result = QIcon()
    for size in _SIZES:
        result.addPixmap(_pixmap(name, size, colour), QIcon.Mode.Normal)
        result.addPixmap(_pixmap(name, size, disabled), QIcon.Mode.Disabled)
    return result


def _pixmap(name: str, size: int, colour: str) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(size / 24, size / 24)
        pen = QPen(QColor(colour), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        path = QPainterPath()
        for points in _LINES[name]:
            path.addPolygon(QPolygonF([QPointF(x, y) for x, y in points]))
        if name in _CIRCLES:
            path.addEllipse(_CIRCLES[name])
        if name in _FILLED:
            painter.fillPath(path, QColor(colour))
        painter.drawPath(path)
    return pixmap
