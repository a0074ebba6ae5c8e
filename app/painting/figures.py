"""Paint a figure for a page or a talk: points with intervals, lines and bars over two axes.

Knows numbers, labels, a theme and a painter. Knows no report and no file. Text is painted as
outlines, so that a vector file looks the same without the fonts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from app.fonts import ui_font

if TYPE_CHECKING:
    from app.theme import Theme

Mark = Literal["circle", "square", "triangle", "diamond", "cross", "pointer"]
MARKS: tuple[Mark, ...] = ("circle", "square", "triangle", "diamond", "cross", "pointer")
SIZE = (1280, 720)  # of every figure
_TOP, _LEFT, _BOTTOM, _RIGHT = 142.0, 92.0, 84.0, 218.0  # margins of the plot
_RADIUS = 6.5  # of a mark
_TITLE, _TEXT, _SMALL, _SMALLEST = 27, 19, 16, 11  # pixels
_CORNERS = {  # of a mark, over its radius
    "triangle": ((0.0, -1.3), (1.2, 0.9), (-1.2, 0.9)),
    "pointer": ((0.0, 1.3), (1.2, -0.9), (-1.2, -0.9)),
    "diamond": ((0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)),
}
_TICKS = 6  # along an axis of values, at most about so many


@dataclass(frozen=True)
class Point:
    """One value, and its interval if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """What has one name and one colour."""

    label: str
    role: str  # of its colour in the theme
    mark: Mark
    points: tuple[Point, ...] = ()
    line: tuple[Point, ...] = ()  # joined; their own ends stand where they are
    bar_width: float = 0.0  # above 0: the points are bars so wide along the axis


@dataclass(frozen=True)
class Figure:
    """All that is painted."""

    title: str
    subtitle: str
    x_label: str
    y_label: str
    ticks: tuple[tuple[float, str], ...]  # along the axis of places
    series: tuple[Series, ...]
    x_range: tuple[float, float]
    level: tuple[float, str] | None = None  # a dashed line over the whole width, and its word
    from_zero: bool = True  # whether the axis of values begins at 0


class _Plot:
    """Where numbers lie on the paper."""

    def __init__(self, figure: Figure) -> None:
        values = [
            value
            for one in figure.series
            for point in (*one.points, *one.line)
            for value in (point.y, point.low, point.high)
            if value is not None
        ]
        values += [figure.level[0]] if figure.level is not None else []
        values += [0.0] if figure.from_zero else []
        low, high = min(values, default=0.0), max(values, default=1.0)
        self.step = tick_step(high - low)
        self.low = math.floor(low / self.step + 1e-9) * self.step
        self.high = max(math.ceil(high / self.step - 1e-9) * self.step, self.low + self.step)
        self.box = QRectF(_LEFT, _TOP, SIZE[0] - _LEFT - _RIGHT, SIZE[1] - _TOP - _BOTTOM)
        self._range = figure.x_range

    def x(self, value: float) -> float:
        """Return where a place lies."""
        begin, end = self._range
        return self.box.left() + (value - begin) / (end - begin) * self.box.width()

    def y(self, value: float) -> float:
        """Return where a value lies."""
        return self.box.bottom() - (value - self.low) / (self.high - self.low) * self.box.height()


def tick_step(span: float) -> float:
    """Return 1, 2 or 5 times a power of ten: some six steps make the span."""
    if not span > 0.0:
        return 1.0
    rough = span / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor >= rough / power)


def paint_figure(painter: QPainter, figure: Figure, theme: Theme) -> None:
    """Paint a figure of `SIZE` at the origin."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillRect(QRectF(0, 0, *SIZE), QColor(theme.base))
    plot = _Plot(figure)
    _paint_frame(painter, plot, figure, theme)
    for one in figure.series:
        _paint_line(painter, plot, one, theme)
    for one in figure.series:
        _paint_points(painter, plot, one, theme)
    _paint_legend(painter, plot, figure, theme)


def _paint_frame(painter: QPainter, plot: _Plot, figure: Figure, theme: Theme) -> None:
    box = plot.box
    _say(painter, figure.title, 32, 48, _font(_TITLE, strong=True), theme.text)
    _say(painter, figure.subtitle, 32, 78, _font(_SMALL), theme.muted)
    _say(painter, figure.y_label, 32, box.top() - 22, _font(_SMALL), theme.muted)
    count = round((plot.high - plot.low) / plot.step)
    digits = max(0, -math.floor(math.log10(plot.step) + 1e-9))
    for index in range(count + 1):
        value = plot.low + index * plot.step
        y = plot.y(value)
        painter.setPen(QPen(QColor(theme.outline if index == 0 else theme.grid), 1.2))
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        words = f"{value:.{digits}f}"
        _say(painter, words, box.left() - 12, y + 6, _font(_TEXT), theme.muted, align=1.0)
    for place, words in figure.ticks:
        x = plot.x(place)
        _say(painter, words, x, box.bottom() + 28, _font(_TEXT), theme.text, align=0.5)
    middle, under = box.center().x(), box.bottom() + 62
    _say(painter, figure.x_label, middle, under, _font(_SMALL), theme.muted, align=0.5)
    if figure.level is not None:
        y = plot.y(figure.level[0])
        painter.setPen(QPen(QColor(theme.text), 1.6, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
        _say(painter, figure.level[1], box.right() + 14, y + 5, _font(_SMALL), theme.text)


def _paint_line(painter: QPainter, plot: _Plot, one: Series, theme: Theme) -> None:
    painter.setPen(QPen(QColor(getattr(theme, one.role)), 2.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    places = [QPointF(plot.x(point.x), plot.y(point.y)) for point in one.line]
    painter.drawPolyline(QPolygonF(places))


def _paint_points(painter: QPainter, plot: _Plot, one: Series, theme: Theme) -> None:
    colour = QColor(getattr(theme, one.role))
    for point in one.points:
        x, y = plot.x(point.x), plot.y(point.y)
        if one.bar_width:
            half = (plot.x(point.x + one.bar_width) - x) / 2
            painter.fillRect(QRectF(x - half, y, 2 * half, plot.y(plot.low) - y), colour)
        if point.low is not None and point.high is not None and point.low < point.high:
            low, high = QPointF(x, plot.y(point.low)), QPointF(x, plot.y(point.high))
            if one.bar_width:  # on the bar and above it
                top = QPointF(x, y)
                _paint_whisker(painter, low, top, QPen(QColor(theme.base), 1.4))
                _paint_whisker(painter, top, high, QPen(QColor(theme.text), 1.4))
            else:
                _paint_whisker(painter, low, high, QPen(colour, 1.8))
        if not one.bar_width:
            _paint_mark(painter, QPointF(x, y), one.mark, colour, theme)


def _paint_whisker(painter: QPainter, low: QPointF, high: QPointF, pen: QPen) -> None:
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(low, high)


def _paint_mark(
    painter: QPainter, centre: QPointF, mark: Mark, colour: QColor, theme: Theme
) -> None:
    radius = _RADIUS
    painter.setPen(QPen(QColor(theme.base), 1.2))
    painter.setBrush(colour)
    if mark == "circle":
        painter.drawEllipse(centre, radius, radius)
    elif mark == "square":
        painter.drawRect(QRectF(centre.x() - radius, centre.y() - radius, 2 * radius, 2 * radius))
    elif mark == "cross":
        painter.setPen(QPen(colour, 3.2))
        for way in (1, -1):
            arm = QPointF(radius * 0.85, radius * 0.85 * way)
            painter.drawLine(centre - arm, centre + arm)
    else:
        corners = [centre + QPointF(x, y) * radius for x, y in _CORNERS[mark]]
        painter.drawPolygon(QPolygonF(corners))


def _paint_legend(painter: QPainter, plot: _Plot, figure: Figure, theme: Theme) -> None:
    left, top = plot.box.right() + 22, plot.box.top() + 8
    room = SIZE[0] - left - 32
    font = _font(_TEXT)
    for one in figure.series:  # one size for all names, so that the longest has room
        while font.pixelSize() > _SMALLEST and _width(one.label, font) > room:
            font.setPixelSize(font.pixelSize() - 1)
    for index, one in enumerate(figure.series):
        y = top + 32 * index
        colour = QColor(getattr(theme, one.role))
        if one.bar_width:
            painter.fillRect(QRectF(left - 8, y - 8, 16, 16), colour)
        else:
            painter.setPen(QPen(colour, 2.4))
            if one.line:
                painter.drawLine(QPointF(left - 13, y), QPointF(left + 13, y))
            _paint_mark(painter, QPointF(left, y), one.mark, colour, theme)
        _say(painter, one.label, left + 24, y + 7, font, theme.text)


def _width(words: str, font: QFont) -> float:
    """Return how wide words are as they are painted: as outlines."""
    path = QPainterPath()
    path.addText(0.0, 0.0, font, words)
    return path.boundingRect().right()


def _font(pixels: int, *, strong: bool = False) -> QFont:
    font = ui_font(1.0, QFont.Weight.DemiBold if strong else QFont.Weight.Normal)
    font.setPixelSize(pixels)
    return font


def _say(
    painter: QPainter,
    words: str,
    x: float,
    baseline: float,
    font: QFont,
    colour: str,
    *,
    align: float = 0.0,
) -> None:
    """Paint words as outlines; `align` is the share of their width that lies left of x."""
    path = QPainterPath()
    path.addText(
        QPointF(x - align * QFontMetricsF(font).horizontalAdvance(words), baseline), font, words
    )
    painter.fillPath(path, QColor(colour))
