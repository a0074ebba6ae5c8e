"""The court and the timeline as pictures, from the same painting that their views use.

Knows a moment, a box and a theme. What a moment shows depends on it alone, never on the frame
before: a timeline too long for its box stands where a fresh one would.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetricsF, QPainter

from app.painting.court import court_fonts, least_height, paint_court, readings_across
from app.painting.notices import paint_line
from app.painting.pixel_fonts import code_pixels, is_plain
from app.painting.readings import scaled
from app.painting.room import Room
from app.painting.timeline import paint_timeline
from app.painting.timeline_frame import Geometry
from app.viewmodels.court import NOTHING_JUDGED, CourtModel
from app.viewmodels.time_window import TimeWindow
from app.viewmodels.timeline import TimelineModel

if TYPE_CHECKING:
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QFont

    from app.painting.moment import Moment
    from app.theme import Theme
    from app.viewmodels.court import Case

_MARGIN = 14.0
_EDGE = 8.0
_FEW_LAWS = (4, 3)  # rows of a small box: what was drafted, what was drawn, the rest


class CourtPanel:
    """The case of the pinned token, or of the latest that was judged."""

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment = moment
        self._model = CourtModel(moment.document, moment.presentation)
        self._fonts = court_fonts(font, code_pixels(font.pixelSize(), plain=is_plain(font)))

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint the case, or as much of it as has room."""
        self._model.pinned = self._moment.pinned
        case = self._model.case()
        inner = box.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        if case is not None:
            case = self._fitted(case, inner, theme)
        # In a picture nothing can be clicked.
        imported = self._moment.document.imported is not None
        empty = self._model.empty if imported else NOTHING_JUDGED
        paint_court(painter, inner, case, theme, self._fonts, empty=empty)

    def _fitted(self, case: Case, box: QRectF, theme: Theme) -> Case:
        """Leave out notes, then readings, most laws and the line of u, until the rest fits."""
        some = case.readings[: readings_across(box.width(), self._fonts)]
        short = replace(case, notes=(), readings=())
        smaller = (
            case,
            replace(case, notes=()),
            replace(case, notes=(), readings=some),
            short,
            *(replace(short, bars=case.rows(rows)) for rows in _FEW_LAWS),
            replace(short, bars=()),
            replace(short, bars=(), u=None),
        )
        for one in smaller:
            if least_height(one, box.width(), theme, self._fonts) <= box.height():
                return one
        return smaller[-1]


class TimelinePanel:
    """Phases along engine time with the cursor, and the cursor's round in words."""

    def __init__(self, moment: Moment, font: QFont) -> None:
        self._moment, self._font = moment, font
        self._model = TimelineModel(moment.document)

    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None:
        """Paint what a window of time shows around the cursor."""
        model, cursor = self._model, self._moment.presentation.cursor
        model.update()
        room = Room(box.adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE / 2))
        small = scaled(self._font, 0.85)
        line = QFontMetricsF(small).height() + 2
        part = room.bottom(line, gap=2, keep=Geometry.least_height(self._font))
        if part is not None and 0 <= cursor.round < len(model):
            part.setLeft(part.left() + _EDGE)
            paint_line(painter, part, model.describe(cursor.round), theme.muted, small)
        inner = room.box
        geometry = Geometry.of(inner.width(), inner.height(), self._font)
        window, at = TimeWindow(), model.cursor_ns(cursor)
        window.set_content(model.duration_ns, len(model), geometry.plot_width)
        window.follow(at)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(inner.topLeft())
        paint_timeline(painter, geometry, model, window, at, theme, self._font)
        painter.restore()
