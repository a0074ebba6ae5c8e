"""A sentence beside figures that a viewer must know, on the warning's ground, and quiet ones.

Knows a theme and a painter. Knows no figure and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.painting.readings import scaled

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

    from app.theme import Theme

_PAD = (7.0, 3.0)  # around a warning's words
WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


def wrapped_height(text: str, width: float, font: QFont) -> float:
    """Return the height that a text needs at a width, pixels; 0 for none."""
    if not text:
        return 0.0
    room = QRectF(0, 0, max(1.0, width), 100_000)
    return QFontMetricsF(font).boundingRect(room, WRAPPED, text).height()


def paint_wrapped(painter: QPainter, box: QRectF, text: str, colour: str, font: QFont) -> None:
    """Paint a text, broken at the box's width."""
    painter.setFont(font)
    painter.setPen(QColor(colour))
    painter.drawText(box, WRAPPED, text)


def notice_height(text: str, width: float, font: QFont, *, quiet: bool = False) -> float:
    """Return the height of a notice at a width, pixels; 0 where nothing is to be said."""
    if not text:
        return 0.0
    across, down = (0.0, 1.0) if quiet else _PAD
    return wrapped_height(text, width - 2 * across, scaled(font, 0.85)) + 2 * down


def paint_notice(
    painter: QPainter, box: QRectF, text: str, theme: Theme, font: QFont, *, quiet: bool = False
) -> None:
    """Paint a notice into a box of `notice_height`."""
    if not text:
        return
    across, down = (0.0, 1.0) if quiet else _PAD
    if not quiet:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.warning_soft))
        painter.drawRoundedRect(box, 4, 4)
    inner = box.adjusted(across, down, -across, -down)
    paint_wrapped(painter, inner, text, theme.muted if quiet else theme.warning, scaled(font, 0.85))


def paint_line(painter: QPainter, box: QRectF, text: str, colour: str, font: QFont) -> None:
    """Paint one line, cut with an ellipsis, in the middle of a box's height."""
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    painter.setPen(QColor(colour))
    words = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    baseline = box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2
    painter.drawText(QPointF(box.left(), baseline), words)
