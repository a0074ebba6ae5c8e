"""Paint the legend: each fate's word as it looks in the strip. Knows no document and no widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.painting.marks import paint_fill, paint_mark

if TYPE_CHECKING:
    from app.theme import Theme

_PAD = 0.35  # around a word, in the font's height
_ROW = 1.6  # height of a row, in the font's height


def legend_boxes(width: float, theme: Theme, font: QFont) -> dict[str, QRectF]:
    """Return where each fate's word stands, wrapped to a width."""
    metrics = QFontMetricsF(font)
    line = metrics.height()
    x = y = 0.0
    boxes: dict[str, QRectF] = {}
    for fate, style in theme.fates.items():
        wide = metrics.horizontalAdvance(style.label) + 2 * _PAD * line
        if x and x + wide > width:
            x, y = 0.0, y + _ROW * line
        boxes[fate] = QRectF(x, y + 0.1 * line, wide, (_ROW - 0.3) * line)
        x += wide + 0.5 * line
    return boxes


def legend_height(width: float, theme: Theme, font: QFont) -> float:
    """Return the height that the legend needs at a width."""
    boxes = legend_boxes(width, theme, font)
    return max(box.bottom() for box in boxes.values()) + 0.2 * QFontMetricsF(font).height()


def paint_legend(painter: QPainter, rect: QRectF, theme: Theme, font: QFont) -> None:
    """Paint the legend into a rectangle."""
    metrics = QFontMetricsF(font)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(font)
    for fate, box in legend_boxes(rect.width(), theme, font).items():
        style = theme.fates[fate]
        place = box.translated(rect.topLeft())
        baseline = place.center().y() + metrics.capHeight() / 2
        paint_fill(painter, place, style, theme.base)
        painter.setPen(QColor(style.colour))
        left = place.left() + _PAD * metrics.height()
        painter.drawText(QPointF(left, baseline), style.label)
        paint_mark(painter, place, baseline, baseline - metrics.xHeight() * 0.55, style)
    painter.restore()
