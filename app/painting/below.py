"""The words below a figure, small, as long as there is room. Knows a theme and a painter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFontMetricsF

from app.painting.notices import lines_of, paint_lines
from app.painting.panels import PIXELS
from app.painting.pixel_fonts import keeps_text, ui_pixels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

    from app.theme import Theme

_BOTTOM = 14.0  # logical pixels
_MOST = 0.25  # of the height
_WANTED = 0.2  # a shorter text is taken before more than that is


def paint_below(
    painter: QPainter,
    size: tuple[int, int],
    texts: Sequence[str],
    theme: Theme,
    ground: str,
    scale: float,
    margin: float,
) -> int:
    """Paint words at the bottom of a whole size and return the height that they take, pixels.

    Parameters
    ----------
    texts
        The same said at length and shorter; the first that fits is taken, the last one is cut with
        an ellipsis. None: nothing is painted.
    scale
        Pixels of a logical one.
    margin
        At both sides, logical pixels.
    """
    width, height = size[0] / scale, size[1] / scale
    font = ui_pixels(PIXELS, plain=keeps_text(painter))
    spacing = QFontMetricsF(font).lineSpacing()
    most, wanted = int(_MOST * height / spacing), int(_WANTED * height / spacing)
    if not texts or most < 1:
        return 0
    said = [lines_of(text, font, width - 2 * margin) for text in texts]
    lines = next((one for one in said if len(one) <= wanted), None)
    if lines is None:
        lines = lines_of(texts[-1], font, width - 2 * margin, most)
    taken = math.ceil((len(lines) * spacing + _BOTTOM) * scale)
    painter.save()
    painter.fillRect(QRectF(0, size[1] - taken, size[0], taken), QColor(ground))
    painter.scale(scale, scale)
    paint_lines(painter, QPointF(margin, height - taken / scale), lines, theme.muted, font)
    painter.restore()
    return taken
