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
