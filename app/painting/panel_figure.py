"""One panel alone for a page or a slide, with a title above and a caption below where asked.

Knows a moment, a theme and a size. What the caption says is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.painting.notices import lines_of, paint_lines
from app.painting.panels import Panels
from app.painting.pixel_fonts import keeps_text
from app.painting.readings import scaled
from app.painting.room import Room
from app.painting.scene_scale import panel_scale

if TYPE_CHECKING:
    from app.painting.moment import Moment
    from app.theme import Theme

_MARGIN, _GAP = 16.0, 10.0
_TITLE, _CAPTION = 1.45, 0.92  # of the panels' font
_MOST_CAPTION = 0.35  # of the height


def paint_panel_figure(
    painter: QPainter,
    size: tuple[int, int],
    moment: Moment,
    theme: Theme,
    name: str,
    scale: float = 1.0,
    *,
    title: str = "",
    caption: str = "",
) -> None:
    """Paint a panel over a whole size, from the painter's origin.

    Parameters
    ----------
    size
        Width and height in pixels.
    name
        One of `app.painting.panels.PANELS`.
    scale
        Size of everything, beside what suits the size.
    caption
        Wrapped below the panel; cut with an ellipsis where it would take too much of the height.
    """
    scale *= panel_scale(size)
    panels = Panels(moment, theme, scale, plain=keeps_text(painter))
    painter.save()
    painter.fillRect(QRectF(0, 0, *size), QColor(theme.base))
    painter.scale(scale, scale)
    whole = QRectF(0, 0, size[0] / scale, size[1] / scale)
    framed = bool(title or caption)
    margin = _MARGIN if framed else 0.0
    room = Room(whole.adjusted(margin, margin, -margin, -margin))
    if title:
        bold = scaled(panels.font, _TITLE, QFont.Weight.DemiBold)
        lines = lines_of(title, bold, room.box.width(), 2)
        part = room.top(len(lines) * QFontMetricsF(bold).lineSpacing(), gap=_GAP)
        if part is not None:
            paint_lines(painter, part.topLeft(), lines, theme.text, bold)
    if caption:
        small = scaled(panels.font, _CAPTION)
        spacing = QFontMetricsF(small).lineSpacing()
        most = max(1, int(_MOST_CAPTION * whole.height() / spacing))
        lines = lines_of(caption, small, room.box.width(), most)
        part = room.bottom(len(lines) * spacing, gap=_GAP)
        if part is not None:
            paint_lines(painter, QPointF(part.topLeft()), lines, theme.muted, small)
    painter.restore()
    box = room.box
    own = QRectF(box.x() * scale, box.y() * scale, box.width() * scale, box.height() * scale)
    panels.paint(painter, own, name, card=framed)
