"""The line above a plot: what is plotted, and a sample of each curve with its word.

Knows words, roles, a theme and a painter. Knows no curve and no widget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.painting.readings import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.theme import Theme

_SAMPLE = 14.0  # length of a curve's sample
_GAP = 12.0


@dataclass(frozen=True)
class Key:
    """One entry of the legend; without a role it is a word alone."""

    label: str
    role: str = ""
    dashed: bool = False


def theme_colour(theme: Theme, role: str) -> str:
    """Return the colour of a role: a fate's name or a field of the theme."""
    if role in theme.fates:
        return theme.fates[role].colour
    colour: str = getattr(theme, role)
    return colour


def keys_height(font: QFont) -> float:
    """Return the height of the line, pixels."""
    return round(QFontMetricsF(scaled(font, 0.85)).height() + 6)


def paint_keys(
    painter: QPainter, box: QRectF, title: str, keys: Sequence[Key], theme: Theme, font: QFont
) -> None:
    """Paint the title at the left, the legend at the right; short of room the title gives way."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    bold = scaled(font, 0.85, QFont.Weight.Medium)
    metrics = QFontMetricsF(scaled(font, 0.85))
    baseline = box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2
    painter.setFont(scaled(font, 0.85))
    right = _paint_samples(painter, box, keys, metrics, baseline, theme)
    painter.setFont(bold)
    painter.setPen(QColor(theme.text))
    left = box.left() + 2
    room = right - _GAP - left
    title = QFontMetricsF(bold).elidedText(title, Qt.TextElideMode.ElideRight, room)
    if len(title) > 2:
        painter.drawText(QPointF(left, baseline), title)


def head_lines(width: float, title: str, keys: Sequence[Key], font: QFont) -> int:
    """Return 2 where title and keys do not fit beside each other, else 1."""
    bold = QFontMetricsF(scaled(font, 0.85, QFont.Weight.Medium))
    small = QFontMetricsF(scaled(font, 0.85))
    wanted = bold.horizontalAdvance(title) + 8.0
    for key in keys:
        wanted += small.horizontalAdvance(key.label) + (_SAMPLE + 5 if key.role else 0.0) + _GAP
    return 2 if keys and wanted > width else 1


def paint_head(
    painter: QPainter,
    box: QRectF,
    title: str,
    keys: Sequence[Key],
    theme: Theme,
    font: QFont,
    *,
    lines: int,
) -> QRectF:
    """Paint title and keys at a box's top, below each other in 2 lines; return what is left."""
    line = QRectF(box.left(), box.top(), box.width(), keys_height(font))
    if lines == 1:
        paint_keys(painter, line, title, keys, theme, font)
    else:
        paint_keys(painter, line, title, (), theme, font)
        below = line.translated(0, line.height() - 3)
        if head_lines(box.width(), title, keys, font) == 2:
            paint_keys(painter, below, "", keys, theme, font)
        elif keys:
            paint_keys(painter, line, "", keys, theme, font)
        line = below
    return QRectF(box.left(), line.bottom(), box.width(), box.bottom() - line.bottom())


def _paint_samples(
    painter: QPainter,
    box: QRectF,
    keys: Sequence[Key],
    metrics: QFontMetricsF,
    baseline: float,
    theme: Theme,
) -> float:
    """Paint the legend from the right and return its left edge."""
    x = box.right() - 6.0
    for key in reversed(keys):
        sample = _SAMPLE + 5 if key.role else 0.0
        if x - metrics.horizontalAdvance(key.label) - sample < box.left():
            break  # a key that does not fit is left out whole
        x -= metrics.horizontalAdvance(key.label)
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(x, baseline), key.label)
        x -= sample
        if key.role:
            style = Qt.PenStyle.DashLine if key.dashed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(QColor(theme_colour(theme, key.role)), 1.6, style))
            y = baseline - metrics.xHeight() / 2
            painter.drawLine(QPointF(x, y), QPointF(x + _SAMPLE, y))
        x -= _GAP
    return x + _GAP
