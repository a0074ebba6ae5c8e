"""The strip's end: how far it is scrolled to be seen, and the sentence below the text.

Knows a layout and a sentence. Knows no chip, no scroll bar and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

    from app.painting.strip_layout import StripLayout
    from app.theme import Theme

_ABOVE = 0.6  # of a row, between the text and the sentence


def notice_room(layout: StripLayout, notice: str, width: float, font: QFont) -> float:
    """Return the height below the text that a sentence takes, in as many lines as it needs."""
    if not notice or not layout.count:
        return 0.0
    room = QRectF(0, 0, max(1.0, width), 10_000)
    needed = QFontMetricsF(font).boundingRect(room, Qt.TextFlag.TextWordWrap, notice).height()
    return needed + layout.row_height * _ABOVE


def paint_strip_notice(
    painter: QPainter,
    rect: QRectF,
    layout: StripLayout,
    notice: str,
    theme: Theme,
    font: QFont,
    scroll: float,
) -> None:
    """Write a sentence below the text, or in its place where there is none.

    Parameters are `app.painting.strip.paint_strip`'s.
    """
    if not notice:
        return
    painter.setFont(font)
    painter.setPen(QColor(theme.muted))
    room = QRectF(rect)
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    if layout.count:
        room.setTop(rect.top() + layout.height - scroll)
        room.setHeight(notice_room(layout, notice, rect.width(), font))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        flags |= Qt.TextFlag.TextWordWrap
    painter.drawText(room, flags, notice)


def settled(
    layout: StripLayout, at: float, seen: float, *, below: float, margin: float, follow: bool
) -> tuple[float, int]:
    """Lay out what is to be seen; return how far that is scrolled, and how far it can be.

    Parameters
    ----------
    at
        Wanted distance from the upper margin's top to the top of what is seen.
    seen
        Height of what is seen.
    below
        Height of what stands below the text.
    margin
        Above the text, and below everything.
    follow
        Show the end, wherever that is.
    """
    rows, most = -1, 0
    while rows != len(layout.rows):  # until what is to be seen is laid out
        rows = len(layout.rows)
        most = round(layout.height + below + 2 * margin - seen)
        at = max(0.0, most if follow else min(at, most))
        at = layout.settle(at - margin, seen) + margin
    return at, most
