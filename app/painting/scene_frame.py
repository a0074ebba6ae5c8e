"""What stands around a scene's panels: who runs, with which settings, and how far the picture is.

Knows words, a cursor's round and a theme. Knows no panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.painting.readings import scaled

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.run_words import RunWords

_TITLE, _NAME = 1.7, 1.15  # of the panels' font
_APART = 18.0  # between two parts of the line
_TRACK = 5.0  # height of the progress line


def header_height(words: RunWords, title: str, width: float, font: QFont) -> float:
    """Return the height of the lines above the panels."""
    lines = len(_lines(words, width, font))
    height = lines * QFontMetricsF(_name_font(font)).height() * 1.1
    return height + (QFontMetricsF(_title_font(font)).height() if title else 0.0)


def paint_header(
    painter: QPainter, box: QRectF, words: RunWords, title: str, theme: Theme, font: QFont
) -> None:
    """Paint a title, then target, drafter and settings, in two lines where one is too short."""
    y = box.top()
    if title:
        bold = _title_font(font)
        metrics = QFontMetricsF(bold)
        painter.setFont(bold)
        painter.setPen(QColor(theme.text))
        said = metrics.elidedText(title, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(QPointF(box.left(), y + metrics.ascent()), said)
        y += metrics.height()
    step = QFontMetricsF(_name_font(font)).height() * 1.1
    colours = {"target": theme.target, "drafter": theme.drafter}
    for line in _lines(words, box.width(), font):
        x, baseline = box.left(), y + QFontMetricsF(_name_font(font)).ascent()
        for role, text in line:
            small = scaled(font, 1.0)
            name = _name_font(font) if role in colours else small
            if role in colours:
                painter.setFont(small)
                painter.setPen(QColor(theme.muted))
                painter.drawText(QPointF(x, baseline), role)
                x += QFontMetricsF(small).horizontalAdvance(f"{role} ")
            metrics = QFontMetricsF(name)
            room = box.right() - x
            said = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            painter.setFont(name)
            painter.setPen(QColor(colours.get(role, theme.muted)))
            painter.drawText(QPointF(x, baseline), said)
            x += metrics.horizontalAdvance(said) + _APART
        y += step


def _lines(words: RunWords, width: float, font: QFont) -> list[list[tuple[str, str]]]:
    """Return what stands on each line: (role, text)."""
    parts = [("target", words.target), ("drafter", words.drafter), ("", words.settings)]
    parts = [part for part in parts if part[1]]
    if not parts or _width(parts, font) <= width:
        return [parts] if parts else []
    lines: list[list[tuple[str, str]]] = [[]]
    for part in parts:
        if lines[-1] and _width([*lines[-1], part], font) > width:
            lines.append([])
        lines[-1].append(part)
    return lines


def _width(parts: list[tuple[str, str]], font: QFont) -> float:
    small, name = QFontMetricsF(scaled(font, 1.0)), QFontMetricsF(_name_font(font))
    wide = 0.0
    for role, text in parts:
        wide += small.horizontalAdvance(f"{role} ") if role else 0.0
        wide += (name if role else small).horizontalAdvance(text) + _APART
    return wide - _APART


def _title_font(font: QFont) -> QFont:
    return scaled(font, _TITLE, QFont.Weight.DemiBold)


def _name_font(font: QFont) -> QFont:
    return scaled(font, _NAME, QFont.Weight.DemiBold)


def progress_height(font: QFont) -> float:
    """Return the height of the line that `paint_progress` paints."""
    return QFontMetricsF(font).height() + 2


def paint_progress(
    painter: QPainter,
    box: QRectF,
    shown: int,
    rounds: int,
    share: float,
    theme: Theme,
    font: QFont,
) -> None:
    """Paint how far the picture is: a line, and the round in words at its right.

    Parameters
    ----------
    shown, rounds
        The round being shown, counted from 1, and how many there are.
    share
        Of the run, in [0, 1].
    """
    metrics = QFontMetricsF(font)
    words = f"round {shown:,} of {rounds:,}"
    widest = f"round {rounds:,} of {rounds:,}"  # the line does not jump
    left = box.right() - metrics.horizontalAdvance(words)
    baseline = box.top() + (box.height() + metrics.ascent() - metrics.descent()) / 2
    painter.setFont(font)
    painter.setPen(QColor(theme.muted))
    painter.drawText(QPointF(left, baseline), words)
    right = box.right() - metrics.horizontalAdvance(widest) - _APART
    track = QRectF(box.left(), box.center().y() - _TRACK / 2, right - box.left(), _TRACK)
    if track.width() < 2 * _TRACK:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.border))
    painter.drawRoundedRect(track, _TRACK / 2, _TRACK / 2)
    done = QRectF(track)
    done.setWidth(max(_TRACK, track.width() * min(1.0, share)))
    if share > 0:
        painter.setBrush(QColor(theme.accent))
        painter.drawRoundedRect(done, _TRACK / 2, _TRACK / 2)
