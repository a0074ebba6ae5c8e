"""Paint the uniform that was drawn on its line from 0 to 1, against the threshold of the test.

Knows a case's `u` and threshold. Knows no law, no widget and no token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from app.viewmodels.numbers import probability
from app.viewmodels.verdict_words import THRESHOLD

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.court import Case

_BAND = 1.15  # height of the band, in lines of text
_NEEDLE = 0.5  # how far the needle stands out of the band, in lines


def track_height(font: QFont) -> float:
    """Return the height that the line needs: the band, u above it, the threshold below."""
    return QFontMetricsF(font).height() * (2 + _BAND + _NEEDLE + 0.25)


def paint_track(painter: QPainter, box: QRectF, case: Case, theme: Theme, font: QFont) -> str:
    """Paint the line of a case that has a `u`; return what it shows, in words."""
    u = case.u if case.u is not None else 0.0
    metrics = QFontMetricsF(font)
    line = metrics.height()
    inset = metrics.horizontalAdvance("0") / 2
    band = QRectF(
        box.left() + inset,
        box.top() + line * (1 + _NEEDLE),
        box.width() - 2 * inset,
        line * _BAND,
    )
    painter.setFont(font)
    below = band.bottom() + line * 0.25 + metrics.ascent()
    if case.tested and case.threshold is not None:
        _paint_sides(painter, band, case.threshold, u, theme, metrics)
        at = band.left() + band.width() * case.threshold
        painter.setPen(QPen(QColor(theme.text), 1.5))
        painter.drawLine(QLineF(at, band.top(), at, band.bottom() + line * 0.25))
        label = f"{THRESHOLD} = {probability(case.threshold)}"
        _text(painter, box, metrics, label, at, below, theme.text)
        words = (
            f"u = {probability(u)}, measured; {label}, derived.\n"
            "The token is kept where u lies left of the threshold."
        )
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.raised))
        painter.drawRoundedRect(band, 3, 3)
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(band, 3, 3)
        law = "the residual" if case.fate == "correction" else "p_target"
        label = f"u picks the token at which the cumulative sum of {law} passes it"
        if metrics.horizontalAdvance(label) > box.width():
            label = f"the draw from {law}"
        _text(painter, box, metrics, label, box.center().x(), below, theme.muted)
        words = f"u = {probability(u)}, measured: the uniform of the draw from {law}."
    taken = _span(box, metrics.horizontalAdvance(label), _label_centre(box, band, case))
    _ends(painter, band, below, metrics, theme, taken)
    _paint_needle(painter, band, u, line, theme)
    at = band.left() + band.width() * u
    above = box.top() + metrics.ascent()
    _text(painter, box, metrics, f"u = {probability(u)}", at, above, theme.draw)
    return words


def _label_centre(box: QRectF, band: QRectF, case: Case) -> float:
    if case.tested and case.threshold is not None:
        return band.left() + band.width() * case.threshold
    return box.center().x()


def _span(box: QRectF, width: float, centre: float) -> tuple[float, float]:
    """Return the ends of a text around a centre, moved into the box."""
    left = min(max(centre - width / 2, box.left()), max(box.left(), box.right() - width))
    return left, left + width


def _paint_sides(
    painter: QPainter,
    band: QRectF,
    threshold: float,
    u: float,
    theme: Theme,
    metrics: QFontMetricsF,
) -> None:
    """Paint where u keeps the token and where it does not, with the words clear of the needle."""
    needle = band.left() + band.width() * u
    split = band.left() + band.width() * threshold
    sides = (
        ("accepted", "kept", QRectF(band.topLeft(), QPointF(split, band.bottom()))),
        ("rejected", "not kept", QRectF(QPointF(split, band.top()), band.bottomRight())),
    )
    for fate, word, side in sides:
        if side.width() < 0.5:
            continue
        style = theme.fates[fate]
        painter.fillRect(side, QColor(style.fill))
        if fate == "rejected":
            hatch = QColor(style.colour)
            hatch.setAlphaF(0.22)
            painter.fillRect(side, QBrush(hatch, Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(QColor(style.colour), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(side)
        width = metrics.horizontalAdvance(word) + 12
        if width < side.width():
            at_left = needle > side.center().x()
            left = side.left() if at_left else side.right() - width
            place = QRectF(left, side.top() + 1, width, side.height() - 2)
            painter.fillRect(place.adjusted(1, 0, -1, 0), QColor(style.fill))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, word)


def _paint_needle(painter: QPainter, band: QRectF, u: float, line: float, theme: Theme) -> None:
    """Paint u: an upright line with a head, over the band."""
    at = band.left() + band.width() * u
    colour = QColor(theme.draw)
    painter.setPen(QPen(QColor(theme.base), 4))
    painter.drawLine(QLineF(at, band.top(), at, band.bottom()))
    painter.setPen(QPen(colour, 2))
    painter.drawLine(QLineF(at, band.top(), at, band.bottom()))
    head = line * _NEEDLE
    top = band.top() - head
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawPolygon(
        QPolygonF(
            [
                QPointF(at - head * 0.55, top),
                QPointF(at + head * 0.55, top),
                QPointF(at, band.top() + head * 0.25),
            ]
        )
    )


def _text(
    painter: QPainter,
    box: QRectF,
    metrics: QFontMetricsF,
    text: str,
    centre: float,
    baseline: float,
    colour: str,
) -> None:
    left, _ = _span(box, metrics.horizontalAdvance(text), centre)
    painter.setPen(QColor(colour))
    painter.drawText(QPointF(left, baseline), text)


def _ends(
    painter: QPainter,
    band: QRectF,
    baseline: float,
    metrics: QFontMetricsF,
    theme: Theme,
    taken: tuple[float, float],
) -> None:
    """Write 0 and 1 where the label leaves room."""
    painter.setPen(QColor(theme.muted))
    half = metrics.horizontalAdvance("0") / 2
    for text, at in (("0", band.left()), ("1", band.right())):
        if not taken[0] - 3 * half < at < taken[1] + 3 * half:
            painter.drawText(QPointF(at - half, baseline), text)
