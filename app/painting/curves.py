"""Paint curves over rounds as the window's plots look: title and keys above, axes, a note.

Knows arrays, words, a theme and a painter. Knows no document, no figure and no widget. Long curves
are thinned to the lowest and the highest value in each pixel, so their painting costs the width.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.painting.curve_axes import Axes, paint_axes
from app.painting.plot_keys import Key, head_lines, paint_head, theme_colour
from app.painting.readings import scaled

if TYPE_CHECKING:
    import numpy.typing as npt
    from PySide6.QtGui import QFont

    from app.theme import Theme

    Array = npt.NDArray[np.float64]

_TINT = 0.16  # opacity of a band
_WIDTH = 1.5  # of a curve, pixels
_JAGGED = 2.0  # way up and down, in widths of the plot


@dataclass(frozen=True)
class Curve:
    """One curve.

    Attributes
    ----------
    label, role, dashed
        Its word in the legend, its colour's role and its line.
    values
        In rounds 1, 2, 3, ...; shape [rounds], NaN and infinite entries are gaps.
    steps
        Whether a value holds until the next round.
    """

    label: str
    role: str
    values: Array
    dashed: bool = False
    steps: bool = False


@dataclass(frozen=True)
class Level:
    """A dashed line at a value, and its word in the legend."""

    value: float
    label: str
    role: str = "text"


@dataclass(frozen=True)
class CurvePlot:
    """All that is painted.

    Attributes
    ----------
    top
        Upper end of the axis of values; its lower end is 0.
    note
        Shown where no curve has a value.
    band
        (low, high) of a tinted band, with `band_role`'s colour.
    right
        What values are multiplied by on a scale at the right; None: there is none.
    unit
        What is counted from left to right.
    """

    title: str
    curves: tuple[Curve, ...]
    top: float
    note: str = ""
    level: Level | None = None
    band: tuple[float, float] | None = None
    band_role: str = "plain_rate"
    right: float | None = None
    unit: str = "round"

    @property
    def keys(self) -> tuple[Key, ...]:
        """The legend's entries."""
        keys = [Key(one.label, one.role, one.dashed) for one in self.curves]
        if self.level is not None:
            keys.append(Key(self.level.label, self.level.role, dashed=True))
        return tuple(keys)


def paint_curves(
    painter: QPainter,
    box: QRectF,
    plot: CurvePlot,
    theme: Theme,
    font: QFont,
    *,
    lines: int | None = None,
) -> int:
    """Paint a plot into a box; return how many points its curves were painted with.

    Parameters
    ----------
    lines
        That title and keys take above the plot; 0: whoever calls has them elsewhere, None: as many
        as they need.
    """
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if lines is None:
        lines = head_lines(box.width(), plot.title, plot.keys, font)
    if lines:
        box = paint_head(painter, box, plot.title, plot.keys, theme, font, lines=lines)
    rounds = max((len(one.values) for one in plot.curves), default=0)
    axes = Axes.of(box, rounds, plot.top, plot.right, plot.unit, font)
    paint_axes(painter, axes, theme, font)
    painter.setClipRect(axes.box.adjusted(-_WIDTH, -_WIDTH, _WIDTH, _WIDTH))
    points = _paint_inside(painter, axes, plot, theme)
    painter.restore()
    if not points and plot.note:
        painter.setFont(scaled(font, 0.9))
        painter.setPen(QColor(theme.muted))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(axes.box, flags, plot.note)
    return points


def _paint_inside(painter: QPainter, axes: Axes, plot: CurvePlot, theme: Theme) -> int:
    if plot.band is not None:
        low, high = (min(max(end, 0.0), axes.top) for end in plot.band)
        tint = QColor(theme_colour(theme, plot.band_role))
        tint.setAlphaF(_TINT)
        top, bottom = axes.y(high), axes.y(low)
        painter.fillRect(QRectF(axes.box.left(), top, axes.box.width(), bottom - top), tint)
    if plot.level is not None and plot.level.value <= axes.top:
        y = axes.y(plot.level.value)
        colour = QColor(theme_colour(theme, plot.level.role))
        painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(axes.box.left(), y, axes.box.right(), y))
    return sum(_paint_curve(painter, axes, curve, theme) for curve in plot.curves)


def _paint_curve(painter: QPainter, axes: Axes, curve: Curve, theme: Theme) -> int:
    at, values = thinned(curve.values, max(1, int(axes.box.width())))
    colour = QColor(theme_colour(theme, curve.role))
    pen = QPen(colour, _WIDTH)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    # Where a curve goes up and down in each pixel, dashes cannot be told apart, and a stroke of the
    # whole costs most: its pieces are painted one by one.
    way = float(np.nansum(np.abs(np.diff(values)))) / axes.top * axes.box.height()
    jagged = way > _JAGGED * axes.box.width()
    if curve.dashed and not jagged:
        pen.setStyle(Qt.PenStyle.DashLine)
    painted = 0
    for start, end in finite_runs(values):
        x, y = axes.x(at[start:end]), axes.y(values[start:end])
        painted += end - start
        if curve.steps and end - start > 1:
            x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
        corners = np.ones(len(y), bool)
        corners[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
        x, y = x[corners], y[corners]
        if len(x) == 1:  # a line of one point would be none
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(float(x[0]), float(y[0])), 2.0, 2.0)
            continue
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        places = [QPointF(*place) for place in zip(x.tolist(), y.tolist(), strict=True)]
        if jagged:
            painter.drawLines([QLineF(*ends) for ends in pairwise(places)])
        else:
            painter.drawPolyline(QPolygonF(places))
    return painted


def thinned(values: Array, columns: int) -> tuple[Array, Array]:
    """Return rounds and values, at most the lowest and the highest of each of so many columns.

    Parameters
    ----------
    values
        Shape [rounds]; infinite entries come back as NaN.

    Returns
    -------
    tuple
        Rounds, counted from 1, and values, both of shape [n], n <= 2 `columns` + 2.
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    rounds = np.arange(1.0, len(values) + 1)
    if len(values) <= 2 * columns:
        return rounds, finite
    each = -(-len(values) // columns)
    padded = np.pad(finite, (0, -len(values) % each), constant_values=np.nan).reshape(-1, each)
    lows, highs = np.fmin.reduce(padded, axis=1), np.fmax.reduce(padded, axis=1)
    middles = rounds[::each] + (each - 1) / 2
    middles[-1] = min(middles[-1], rounds[-1])
    out = np.stack((lows, highs), axis=1).reshape(-1)
    # The last value stands where it is: it is the figure that the panel names.
    return np.append(np.repeat(middles, 2), rounds[-1]), np.append(out, finite[-1])


def finite_runs(values: Array) -> list[tuple[int, int]]:
    """Return the half-open ranges of neighbouring entries that are numbers."""
    known = np.concatenate(([False], np.isfinite(values), [False])).astype(np.int8)
    edges = np.flatnonzero(np.diff(known)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
