"""A sentence beside figures that a viewer must know, on the warning's ground, and quiet ones.

Knows a theme and a painter. Knows no figure and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QTextLayout, QTextOption

from app.painting.readings import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def lines_of(text: str, font: QFont, width: float, most: int = 1000) -> list[str]:
    """Break a text at a width into at most so many lines, of which the last is elided.

    A line may end wherever the script lets it: Chinese has no spaces.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        layout = QTextLayout(paragraph, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        ends = []
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width))
            ends.append(line.textStart() + line.textLength())
        layout.endLayout()
        # Qt counts UTF-16 units.
        units = paragraph.encode("utf-16-le")
        starts = [0, *ends[:-1]]
        pairs = zip(starts, ends, strict=True)
        lines += [units[2 * a : 2 * b].decode("utf-16-le").strip() for a, b in pairs] or [""]
    if len(lines) > most:
        rest = " ".join(lines[most - 1 :])
        metrics = QFontMetricsF(font)
        last = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width)
        lines = [*lines[: most - 1], last]
    return lines


def paint_lines(
    painter: QPainter, at: QPointF, lines: Sequence[str], colour: str, font: QFont
) -> float:
    """Paint lines below each other from a corner on; return their height."""
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    painter.setPen(QColor(colour))
    for number, line in enumerate(lines):
        y = at.y() + number * metrics.lineSpacing() + metrics.ascent()
        painter.drawText(QPointF(at.x(), y), line)
    return len(lines) * metrics.lineSpacing()


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
