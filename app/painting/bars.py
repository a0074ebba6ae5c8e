"""A small bar chart with every count written out.

Knows bars, a theme and a painter. Knows no widget and no figure: heights and labels are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPen

from app.painting.readings import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont, QPainter

    from app.theme import Theme
    from app.viewmodels.charts import Bar, Chart

_PAD = 6.0
_LEAST_PLOT = 28.0  # lower plots lose words first
_WIDEST = 40.0
_HEAD = 2.0  # height of a bar's own edge
_TINT = 0.4  # opacity of a bar below its head


def paint_chart(
    painter: QPainter, box: QRectF, chart: Chart, colour: str, theme: Theme, font: QFont
) -> None:
    """Paint a chart into a box; `colour` is that of its bars."""
    small = scaled(font, 0.85)
    metrics = QFontMetricsF(small)
    painter.setFont(small)
    if not chart.bars or all(bar.share is None for bar in chart.bars):
        painter.setPen(QColor(theme.muted))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(box, flags, chart.note)
        return
    line = metrics.height()
    counts = _counts_fit(chart.bars, metrics, box.width())
    lines = lines_below(box.height(), line, counts=counts)
    counts = counts and lines > 1
    below = line * lines + 2
    plot = QRectF(
        box.left(), box.top() + line + 2, box.width(), max(8.0, box.height() - below - line - 2)
    )
    _paint_frame(painter, plot, theme)
    if chart.reference is not None and chart.top > 0:
        y = round(plot.bottom() - plot.height() * min(1.0, chart.reference / chart.top)) + 0.5
        painter.setPen(QPen(QColor(theme.text), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
    step = plot.width() / len(chart.bars)
    for i, bar in enumerate(chart.bars):
        column = QRectF(plot.left() + i * step, plot.top(), step, plot.height())
        _paint_bar(painter, column, bar, chart.top, colour, theme, metrics)
        _centred(painter, metrics, bar.label, column.center().x(), plot.bottom() + 2, theme.text)
        if counts:
            top = plot.bottom() + 2 + line
            _centred(painter, metrics, bar.counts, column.center().x(), top, theme.muted)
    if lines > 1 + counts:
        _centred(painter, metrics, chart.axis, box.center().x(), box.bottom() - line, theme.muted)


def lines_below(height: float, line: float, *, counts: bool) -> int:
    """Return how many lines of words stand below the bars: labels, then counts, then the axis."""
    wanted = 3 if counts else 2
    free = height - line - 4 - _LEAST_PLOT  # `line`: a value above the highest bar
    return max(1, min(wanted, int(free // line)))


def _counts_fit(bars: Sequence[Bar], metrics: QFontMetricsF, width: float) -> bool:
    widest = max(metrics.horizontalAdvance(bar.counts) for bar in bars)
    return 0 < widest + 3 <= width / len(bars)


def _paint_frame(painter: QPainter, plot: QRectF, theme: Theme) -> None:
    painter.setPen(QPen(QColor(theme.grid), 1))
    for share in (0.0, 0.5):
        y = round(plot.top() + share * plot.height()) + 0.5
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
    painter.setPen(QPen(QColor(theme.outline), 1))
    y = round(plot.bottom()) + 0.5
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))


def _paint_bar(
    painter: QPainter,
    column: QRectF,
    bar: Bar,
    top: float,
    colour: str,
    theme: Theme,
    metrics: QFontMetricsF,
) -> None:
    if bar.share is None:
        y = column.bottom() - metrics.height() - 1
        _centred(painter, metrics, bar.value, column.center().x(), y, theme.muted)
        return
    width = min(_WIDEST, max(3.0, column.width() - _PAD))
    height = column.height() * min(1.0, bar.share / top) if top > 0 else 0.0
    shape = QRectF(column.center().x() - width / 2, column.bottom() - height, width, height)
    painter.fillRect(shape, QColor(theme.base))  # the reference line ends at a bar
    tint = QColor(colour)
    tint.setAlphaF(_TINT)
    painter.fillRect(shape, tint)
    head = QRectF(shape.left(), shape.top(), width, min(_HEAD, height))
    painter.fillRect(head, QColor(colour))
    if metrics.horizontalAdvance(bar.value) <= column.width():
        y = shape.top() - metrics.height() - 1
        text = metrics.horizontalAdvance(bar.value)
        behind = QRectF(column.center().x() - text / 2 - 2, y, text + 4, metrics.height())
        painter.fillRect(behind, QColor(theme.base))
        _centred(painter, metrics, bar.value, column.center().x(), y, theme.text)


def _centred(
    painter: QPainter, metrics: QFontMetricsF, text: str, x: float, top: float, colour: str
) -> None:
    painter.setPen(QColor(colour))
    left = x - metrics.horizontalAdvance(text) / 2
    painter.drawText(QPointF(left, top + metrics.ascent()), text)
