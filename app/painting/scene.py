"""A whole frame at any size: who runs, the text and its panels, a caption, how far the picture is.

Knows a moment, a theme and a size. Keeps the panels' models and layouts from frame to frame; what
is painted depends on the moment alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from app.painting.captions import Caption, caption_height, lines_height, paint_caption
from app.painting.panels import KEYS, Panels
from app.painting.pixel_fonts import keeps_text
from app.painting.room import Room
from app.painting.scene_frame import (
    header_height,
    paint_header,
    paint_progress,
    progress_height,
)
from app.painting.scene_layout import GAP, arranged
from app.painting.scene_scale import scene_scale
from app.viewmodels.run_words import run_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.painting.moment import Moment
    from app.theme import Theme

SCENE = (KEYS, "text", "court", "timeline")
_MARGIN = 20.0
_MOST_CAPTION = 0.3  # of the height
_MOST_KEYS = 0.22
_NOTE_LINES = 2  # that a frame without a caption keeps room for, if asked


class Scene:
    """Frames of one size.

    Parameters
    ----------
    size
        Width and height in pixels.
    scale
        Size of everything, beside what suits the size: 1.25 for a large hall.
    panels
        `KEYS` and names of `app.painting.panels.PANELS`, the most important first.
    title
        Above everything; "" for none.
    keep_caption_room
        Whether a frame without a caption leaves its room free, so that panels do not jump in a
        video when one comes and goes.
    """

    def __init__(
        self,
        theme: Theme,
        size: tuple[int, int],
        scale: float = 1.0,
        panels: Sequence[str] = SCENE,
        *,
        title: str = "",
        keep_caption_room: bool = False,
    ) -> None:
        self.theme, self.size, self.title = theme, size, title
        self.scale = scene_scale(size) * scale
        self._names = tuple(panels)
        self._keep_caption_room = keep_caption_room
        self._panels: Panels | None = None

    def paint(self, painter: QPainter, moment: Moment, caption: Caption | None = None) -> None:
        """Paint a moment over the whole size, from the painter's origin."""
        panels = self._panels_of(moment, keeps_text(painter))
        width, height = (edge / self.scale for edge in self.size)
        painter.save()
        painter.fillRect(QRectF(0, 0, *self.size), QColor(self.theme.window))
        painter.scale(self.scale, self.scale)
        whole = QRectF(0, 0, width, height)
        margin = min(_MARGIN, 0.04 * min(width, height))
        room = Room(whole.adjusted(margin, margin * 0.8, -margin, -margin * 0.6))
        self._frame(painter, room, moment, panels)
        self._caption(painter, room, caption or Caption(), panels, height)
        places: dict[str, QRectF] = {}
        if KEYS in self._names:
            most = _MOST_KEYS * room.box.height()
            part = room.top(panels.keys_height(room.box.width(), most), gap=GAP)
            if part is not None:
                places[KEYS] = part
        names = [name for name in self._names if name != KEYS]
        places |= arranged(room.box, names) if names else {}
        painter.restore()
        for name, box in places.items():
            panels.paint(painter, _times(box, self.scale), name)

    def _panels_of(self, moment: Moment, plain: bool) -> Panels:
        panels = self._panels
        if panels is None or panels.moment is not moment or panels.plain is not plain:
            panels = self._panels = Panels(moment, self.theme, self.scale, plain=plain)
        return panels

    def _frame(self, painter: QPainter, room: Room, moment: Moment, panels: Panels) -> None:
        """Paint the header and how far the picture is."""
        words = run_words(moment.document, moment.round)
        above = header_height(words, self.title, room.box.width(), panels.font)
        part = room.top(above, gap=GAP * 0.8)
        if part is not None:
            paint_header(painter, part, words, self.title, self.theme, panels.font)
        part = room.bottom(progress_height(panels.font), gap=GAP * 0.7)
        rounds = len(moment.document.rounds)
        if part is None or not rounds:
            return
        cursor = moment.presentation.cursor
        shown = max(0, min(cursor.round, rounds - 1) + 1)
        share = moment.presentation.visible_rounds() / rounds
        paint_progress(painter, part, shown, rounds, share, self.theme, panels.font)

    def _caption(
        self, painter: QPainter, room: Room, caption: Caption, panels: Panels, height: float
    ) -> None:
        most = _MOST_CAPTION * height
        kept = min(most, lines_height(panels.font, _NOTE_LINES)) if self._keep_caption_room else 0.0
        needed = caption_height(caption, room.box.width(), panels.font, most)
        part = room.bottom(max(needed, kept), gap=GAP)
        if part is not None and needed:
            paint_caption(painter, part, caption, self.theme, panels.font)


def _times(box: QRectF, scale: float) -> QRectF:
    return QRectF(box.x() * scale, box.y() * scale, box.width() * scale, box.height() * scale)
