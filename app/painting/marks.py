"""The mark of each fate, drawn the same way in strip, legend and charts.

Knows lines and boxes around a piece of text. Knows no token and no layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

if TYPE_CHECKING:
    from app.theme import FateStyle, Mark

_FAINT = 0.75  # opacity of a faint strike
_QUIET = 0.4  # of an overline: plain tokens can be most of a text
_ROUNDING = 0.18  # of the font's height


def paint_fill(painter: QPainter, box: QRectF, style: FateStyle, base: str) -> None:
    """Paint a fate's quiet background, unless it is the base itself."""
    if style.fill == base:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(style.fill))
    radius = box.height() * _ROUNDING
    painter.drawRoundedRect(box, radius, radius)


def paint_mark(
    painter: QPainter, box: QRectF, baseline: float, middle: float, style: FateStyle
) -> None:
    """Paint a fate's mark.

    Parameters
    ----------
    box
        Around the visible text, in the painter's coordinates.
    baseline, middle
        Heights of the text's baseline and of a strike through its small letters.
    """
    mark: Mark = style.mark
    if mark == "none":
        return
    width = max(1.0, box.height() / 15)
    colour = QColor(style.colour)
    if mark in ("solid_box", "dotted_box"):
        _box(painter, box, colour, width, dotted=mark == "dotted_box")
        return
    if mark == "faint_strike":
        colour.setAlphaF(_FAINT)
        width *= 0.7
    elif mark == "overline":
        colour.setAlphaF(_QUIET)
        width *= 0.8
    pen = QPen(colour, width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if mark == "dashed_underline":
        pen.setDashPattern([3.0, 2.0])
    elif mark == "dotted_underline":
        pen.setDashPattern([1.0, 1.5])
    height = {
        "strike": middle,
        "faint_strike": middle,
        "overline": box.top() + width / 2,
    }.get(mark, min(box.bottom() - width / 2, baseline + 2.6 * width))
    painter.setPen(pen)
    painter.drawLine(QLineF(box.left(), height, box.right(), height))


def _box(painter: QPainter, box: QRectF, colour: QColor, width: float, *, dotted: bool) -> None:
    pen = QPen(colour, width)
    if dotted:
        pen.setDashPattern([1.2, 1.6])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = box.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    radius = box.height() * _ROUNDING
    painter.drawRoundedRect(inner, radius, radius)
