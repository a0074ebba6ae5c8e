"""A caption over a picture: a marker's title and its note. Knows a theme and a painter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.painting.notices import lines_of, paint_lines
from app.painting.readings import scaled

if TYPE_CHECKING:
    from app.theme import Theme

_PAD = (18.0, 12.0)
_EDGE = 5.0  # of the bar at the left
_TITLE, _NOTE = 1.35, 1.15  # of the panels' font


@dataclass(frozen=True)
class Caption:
    """What is said of a moment; either part may be ""."""

    title: str = ""
    note: str = ""


def caption_height(caption: Caption, width: float, font: QFont, most: float) -> float:
    """Return the height that a caption takes at a width, never more than `most`; 0 for none."""
    title, note = _lines(caption, width, font, most)
    return _height(title, note, font) if title or note else 0.0


def lines_height(font: QFont, notes: int) -> float:
    """Return the height of a caption with a title and so many lines of note."""
    return _height([""], [""] * notes, font)


def paint_caption(
    painter: QPainter, box: QRectF, caption: Caption, theme: Theme, font: QFont
) -> None:
    """Paint a caption into a box, cut with an ellipsis where the box is too low."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.accent_soft))
    painter.drawRoundedRect(box, 8, 8)
    painter.setBrush(QColor(theme.accent))
    painter.drawRoundedRect(QRectF(box.left(), box.top(), _EDGE, box.height()), 2.5, 2.5)
    title, note = _lines(caption, box.width(), font, box.height())
    free = box.height() - _height(title, note, font)
    at = QPointF(box.left() + _PAD[0], box.top() + _PAD[1] + max(0.0, free) / 2)
    used = paint_lines(painter, at, title, theme.text, _title_font(font))
    paint_lines(painter, at + QPointF(0, used), note, theme.text, scaled(font, _NOTE))


def _title_font(font: QFont) -> QFont:
    return scaled(font, _TITLE, QFont.Weight.DemiBold)


def _lines(caption: Caption, width: float, font: QFont, most: float) -> tuple[list[str], list[str]]:
    inner = width - 2 * _PAD[0]
    bold, plain = _title_font(font), scaled(font, _NOTE)
    room = most - 2 * _PAD[1]
    title = lines_of(caption.title, bold, inner, 2) if caption.title else []
    room -= len(title) * QFontMetricsF(bold).lineSpacing()
    fit = int(room / QFontMetricsF(plain).lineSpacing() + 0.01)
    note = lines_of(caption.note, plain, inner, fit) if caption.note and fit > 0 else []
    return title, note


def _height(title: list[str], note: list[str], font: QFont) -> float:
    titles = len(title) * QFontMetricsF(_title_font(font)).lineSpacing()
    notes = len(note) * QFontMetricsF(scaled(font, _NOTE)).lineSpacing()
    return titles + notes + 2 * _PAD[1]
