"""The panels of figures as pictures: acceptance, throughput, caches, as their views show them.

Knows viewmodels, a box and a theme. Computes no figure. What does not fit is left out from the
bottom, as the window leaves it out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetricsF

from app.painting.bars import paint_chart
from app.painting.curves import Curve, CurvePlot, Level, paint_curves
from app.painting.notices import notice_height, paint_line, paint_notice
from app.painting.pages import pages_height, paint_caches
from app.painting.plot_keys import (
    Key,
    head_lines,
    keys_height,
    paint_head,
    paint_keys,
    theme_colour,
)
from app.painting.reading_rows import paint_readings, stack_height
from app.painting.readings import needed_widths, row_height, scaled
from app.painting.room import Room, side_by_side, stacked
from app.viewmodels import acceptance, throughput
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.caches import CachesModel
from app.viewmodels.throughput import ThroughputModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QFont, QPainter

    from app.painting.moment import Moment
    from app.theme import Theme
    from app.viewmodels.charts import Chart
    from app.viewmodels.readings import Reading

_MARGIN, _GAP = 12.0, 6.0
_LEAST_PLOT = 96.0  # lower plots say nothing
_ALL_SIDE_BY_SIDE = 640.0  # in narrower panels charts stand below each other
_BESIDE = 400.0  # from this width on the plot has the small figures at its side
_BY_POSITION, _LENGTHS = "acceptance by draft position, %", "accepted lengths"
_SMALL_FIGURES = 0.34  # of the width, at most


def _below_readings(
    painter: QPainter, box: QRectF, readings: Sequence[Reading], theme: Theme, font: QFont
) -> Room:
    """Paint a panel's figures at its top; return the room below them."""
    room = Room(box.adjusted(_MARGIN, _MARGIN * 0.7, -_MARGIN, -_MARGIN * 0.7))
    line = room.top(row_height(font, compact=False), gap=_GAP)
    if line is not None:
        paint_readings(painter, line, readings, theme, font)
    return room


def _paint_notice(
    painter: QPainter, room: Room, text: str, theme: Theme, font: QFont, *, quiet: bool = False
) -> None:
    """Paint what has to be known about the figures, where a plot keeps its room."""
    height = notice_height(text, room.box.width(), font, quiet=quiet)
    part = room.top(height, gap=_GAP, keep=_LEAST_PLOT)
    if part is not None:
        paint_notice(painter, part, text, theme, font, quiet=quiet)


class AcceptancePanel:
    """How much of the draft was kept."""

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment, self._font = moment, font
        self._model = AcceptanceModel(moment.document)

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint figures, what has to be known about them, and three charts."""
        model, font = self._model, self._font
        model.update(self._moment.presentation.visible_rounds())
        room = _below_readings(painter, box, model.readings, theme, font)
        for text, quiet in ((model.notice, False), (model.short, True)):
            _paint_notice(painter, room, text, theme, font, quiet=quiet)
        self._charts(painter, room.box, theme)

    def _charts(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        model = self._model
        if box.width() >= _ALL_SIDE_BY_SIDE:
            boxes = side_by_side(box, (3, 4, 3), 18.0)
        else:
            fit = int((box.height() + 10) // (_LEAST_PLOT + 10))
            boxes = stacked(box, (1.0,) * min(3, fit), 10.0)
        if box.height() < _LEAST_PLOT:
            return
        plot = CurvePlot(
            "acceptance, %",
            (
                Curve("all so far", "accepted", 100 * model.cumulative),
                Curve(
                    f"last {acceptance.WINDOW} rounds", "muted", 100 * model.rolling, dashed=True
                ),
            ),
            top=100.0,
            note=model.note,
        )
        titles = (_BY_POSITION, plot.title, _LENGTHS)
        keys = (_bar_keys(model.positions), plot.keys, _bar_keys(model.lengths))
        parts = list(zip(boxes, titles, keys, strict=False))  # those that there is room for
        lines = [head_lines(own.width(), title, words, self._font) for own, title, words in parts]
        if box.width() >= _ALL_SIDE_BY_SIDE:
            lines = [max(lines)] * len(lines)  # so that all axes stand on one height
        charts = (model.positions, None, model.lengths)
        for (own, title, words), chart, many in zip(parts, charts, lines, strict=False):
            if chart is None:
                paint_curves(painter, own, plot, theme, self._font, lines=many)
                continue
            body = paint_head(painter, own, title, words, theme, self._font, lines=many)
            colour = theme_colour(theme, "accepted")
            paint_chart(painter, body.adjusted(2, 0, -2, -2), chart, colour, theme, self._font)


def _bar_keys(chart: Chart) -> tuple[Key, ...]:
    if chart.reference is None or not chart.bars:
        return ()
    return (Key(chart.reference_label, "text", dashed=True),)


class ThroughputPanel:
    """How fast this run is beside the plain target."""

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment, self._font = moment, font
        self._model = ThroughputModel(moment.document)

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint the large figures, the rate over the rounds, small figures beside it."""
        model, font = self._model, self._font
        model.update(self._moment.presentation.visible_rounds())
        room = _below_readings(painter, box, model.readings, theme, font)
        _paint_notice(painter, room, model.warning, theme, font)
        quiet = scaled(font, 0.9)
        if model.source:
            part = room.bottom(QFontMetricsF(quiet).height() + 2, keep=_LEAST_PLOT)
            if part is not None:
                paint_line(painter, part, model.source, theme.muted, quiet)
        if room.box.height() >= _LEAST_PLOT:
            self._plot(painter, room, theme)

    def _plot(self, painter: QPainter, room: Room, theme: Theme) -> None:
        model, font, plot = self._model, self._font, self._curves()
        beside = room.box.width() >= _BESIDE
        if not beside:
            line = room.top(row_height(font, compact=True), gap=_GAP, keep=_LEAST_PLOT)
            if line is not None:
                paint_readings(painter, line, model.small, theme, font, compact=True)
        head = room.top(keys_height(font))
        if head is None:
            return
        paint_keys(painter, head, plot.title, plot.keys, theme, font)
        if beside and stack_height(len(model.small), font, compact=True) <= room.box.height():
            width = max(needed_widths(model.small, font, compact=True)) + 4
            part = room.left(min(width, _SMALL_FIGURES * room.box.width()), gap=14)
            part.setTop(part.top() + _GAP)
            paint_readings(painter, part, model.small, theme, font, compact=True, stacked=True)
        paint_curves(painter, room.box, plot, theme, font, lines=0)

    def _curves(self) -> CurvePlot:
        model, plain = self._model, self._model.plain
        band = None
        if plain is not None and plain.low_tokens_per_second is not None:
            high = plain.high_tokens_per_second
            band = (plain.low_tokens_per_second, high if high is not None else model.top)
        return CurvePlot(
            "tok/s",
            (
                Curve("all so far", "accent", model.cumulative),
                Curve(f"last {throughput.WINDOW} rounds", "muted", model.rolling, dashed=True),
            ),
            top=model.top,
            note=model.note,
            level=None if plain is None else Level(plain.tokens_per_second, "break-even 1.0×"),
            band=band,
            right=None if plain is None else 1.0 / plain.tokens_per_second,
        )


class CachesPanel:
    """Both caches' pages in the round shown last, and over the rounds."""

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment, self._font = moment, font
        self._model = CachesModel(moment.document)

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint figures, pages and how many were held."""
        model, font = self._model, self._font
        model.update(self._moment.presentation.visible_rounds())
        room = Room(box.adjusted(_MARGIN, _MARGIN * 0.7, -_MARGIN, -_MARGIN * 0.7))
        line = room.top(row_height(font, compact=False, lead=False), gap=_GAP)
        if line is not None:
            paint_readings(painter, line, model.readings, theme, font, lead=False)
        part = room.top(pages_height(len(model.pictures), font), gap=_GAP)
        if part is not None:
            paint_caches(painter, part, model.pictures, theme, font)
        if room.box.height() < _LEAST_PLOT:
            return
        target, drafter = model.pages
        plot = CurvePlot(
            "pages held",
            (
                Curve("target", "target", target, steps=True),
                Curve("drafter", "drafter", drafter, dashed=True, steps=True),
            ),
            top=model.top,
            note="no round yet",
        )
        paint_curves(painter, room.box, plot, theme, font)
