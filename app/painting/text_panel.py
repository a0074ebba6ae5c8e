"""The strip as a picture: the text to its end, the arrow of a copied draft, the legend below.

Knows a moment, a box and a theme. Keeps the layout, so that the next frame lays out what is new.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from app.painting.legend import legend_height, paint_legend
from app.painting.pixel_fonts import code_pixels, is_plain, ui_pixels
from app.painting.readings import scaled
from app.painting.strip import paint_strip
from app.painting.strip_arrow import paint_arrow, place_arrow
from app.painting.strip_end import notice_room, paint_strip_notice, settled
from app.painting.strip_layout import SMALL, StripLayout
from app.painting.strip_told import arrow_ends, highlights_of
from app.viewmodels.strip import StripModel

if TYPE_CHECKING:
    from PySide6.QtGui import QFont, QPainter

    from app.painting.moment import Moment
    from app.theme import Theme

TEXT = 1.5  # size of the text, of the panels' font
_MARGIN = 14.0
_LEAST_ROWS = 3  # above the legend, which is left out before they are


class TextPanel:
    """One run's text.

    Attributes
    ----------
    layout
        Where it stands; tests count its work.
    """

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment = moment
        self._model = StripModel(moment.document, moment.presentation)
        pixels, plain = font.pixelSize() * TEXT, is_plain(font)
        self._notice_font = ui_pixels(pixels * SMALL, plain=plain)
        self._legend_font = scaled(font, 0.92)
        self.layout = StripLayout(
            ui_pixels(pixels, plain=plain), code_pixels(pixels * SMALL, plain=plain), 400.0
        )

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint the text as far as the moment has come."""
        model, layout = self._model, self.layout
        model.show_drafts = self._moment.show_drafts
        layout.set_width(max(40.0, box.width() - 2 * _MARGIN))
        first = model.refresh()
        if first < len(model.chips) or len(model.chips) != layout.count:
            layout.update(model.chips, first)
        rect = box.adjusted(_MARGIN, 0, -_MARGIN, -self._paint_legend(painter, box, theme))
        below = notice_room(layout, model.notice, rect.width(), self._notice_font)
        at, _ = settled(layout, 0.0, rect.height(), below=below, margin=_MARGIN, follow=True)
        # No row is cut in two: the first whole one stands at the top, as the text's first does.
        row = max(0, math.ceil((at - _MARGIN) / layout.row_height))
        rect.setTop(rect.top() + _MARGIN)
        scroll = row * layout.row_height
        self._paint_rows(painter, rect, theme, scroll)
        font = self._notice_font
        paint_strip_notice(painter, rect, layout, model.notice, theme, font, scroll)

    def _paint_rows(self, painter: QPainter, rect: QRectF, theme: Theme, scroll: float) -> None:
        told = (self._moment.pinned,)
        highlights = highlights_of(self._model, pinned=self._moment.pinned, told=told)
        chips = self._model.chips
        paint_strip(painter, rect, self.layout, chips, theme, scroll=scroll, highlights=highlights)
        ends = arrow_ends(self._model, told)
        if ends is None:
            return
        arrow = place_arrow(self.layout, ends, scroll, rect.height())
        if arrow is not None:
            paint_arrow(painter, rect, self.layout, arrow, theme, scroll=scroll, part=rect)

    def _paint_legend(self, painter: QPainter, box: QRectF, theme: Theme) -> float:
        """Paint the legend at the box's bottom and return the height that it took."""
        width = box.width() - 2 * _MARGIN
        height = legend_height(width, theme, self._legend_font)
        taken = height + _MARGIN / 2
        if box.height() - taken < _LEAST_ROWS * self.layout.row_height + _MARGIN:
            return 0.0
        rect = QRectF(box.left() + _MARGIN, box.bottom() - taken, width, height)
        paint_legend(painter, rect, theme, self._legend_font)
        return taken
