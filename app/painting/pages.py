"""Paint a cache as a row of pages: what it held, what the round added, what was given back.

Knows `CacheSpan`s, a theme and a painter. Knows no widget and no document. Pages that do not
fit are left out at the front and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from app.painting.readings import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont

    from app.theme import Theme
    from app.viewmodels.caches import CachePicture
    from engine.trace.events import CacheSpan

_GAP = 3.0
_ROW_GAP = 5.0
_NARROWEST, _WIDEST = 18.0, 34.0


def pages_height(caches: int, font: QFont) -> float:
    """Return the height that so many caches need, pixels."""
    return caches * _row(font) + (caches - 1) * _ROW_GAP + 6


def paint_caches(
    painter: QPainter, box: QRectF, pictures: Sequence[CachePicture], theme: Theme, font: QFont
) -> int:
    """Paint a row of pages for each cache; return how many pages were painted."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    row, painted = _row(font), 0
    for i, picture in enumerate(pictures):
        top = box.top() + 3 + i * (row + _ROW_GAP)
        own = QRectF(box.left() + 2, top, box.width() - 8, row)
        painted += paint_pages(painter, own, picture, theme, font)
    return painted


def _row(font: QFont) -> float:
    return QFontMetricsF(font).height() + 4


def paint_pages(
    painter: QPainter, box: QRectF, picture: CachePicture, theme: Theme, font: QFont
) -> int:
    """Paint one cache into a box, its name at the left; return how many pages were painted."""
    small = scaled(font, 0.85)
    metrics = QFontMetricsF(small)
    painter.setFont(small)
    middle = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
    painter.setPen(QColor(theme.text))
    painter.drawText(QPointF(box.left(), middle), picture.side)
    left = box.left() + metrics.horizontalAdvance("drafter") + 10
    span = picture.span
    if span is None:
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(left, middle), picture.reason)
        return 0
    pages = max(span.pages_peak, span.pages_after, span.pages_before)
    room = box.right() - left
    fit = max(1, int((room + _GAP) // (_NARROWEST + _GAP)))
    first = 0
    if pages > fit:
        label = f"+{pages:,}"
        room -= metrics.horizontalAdvance(label) + 6
        fit = max(1, int((room + _GAP) // (_NARROWEST + _GAP)))
        first = pages - fit
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(left, middle), f"+{first:,}")
        left = box.right() - room
    width = min(_WIDEST, (room + _GAP) / min(pages, fit) - _GAP) if pages else 0.0
    for i, page in enumerate(range(first, pages)):
        cell = QRectF(left + i * (width + _GAP), box.top(), width, box.height())
        _paint_page(painter, cell, page, span, picture.side, theme)
    return pages - first


def _paint_page(
    painter: QPainter, cell: QRectF, page: int, span: CacheSpan, side: str, theme: Theme
) -> None:
    colour = QColor(theme.target if side == "target" else theme.drafter)
    start = page * span.page_size
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.raised))
    painter.drawRoundedRect(cell, 3, 3)
    painter.save()
    outline = QPainterPath()
    outline.addRoundedRect(cell, 3, 3)
    painter.setClipPath(outline)
    held = min(span.before, span.after)
    soft = QColor(colour)
    soft.setAlphaF(0.55)
    _fill(painter, cell, start, span, (0, held), QBrush(colour))
    _fill(painter, cell, start, span, (held, span.after), QBrush(soft))
    back = (span.after, max(span.peak, span.before))
    _fill(painter, cell, start, span, back, QBrush(QColor(theme.fates["rejected"].fill)))
    hatch = QBrush(QColor(theme.fates["rejected"].colour), Qt.BrushStyle.BDiagPattern)
    _fill(painter, cell, start, span, back, hatch)
    painter.restore()
    released = page >= span.pages_after
    style = Qt.PenStyle.DashLine if released else Qt.PenStyle.SolidLine
    edge = theme.fates["rejected"].colour if released else theme.outline
    painter.setPen(QPen(QColor(edge), 1, style))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)


def _fill(
    painter: QPainter,
    cell: QRectF,
    start: int,
    span: CacheSpan,
    positions: tuple[int, int],
    brush: QBrush,
) -> None:
    """Fill the part of a page that a range of positions takes."""
    low = max(0, positions[0] - start)
    high = min(span.page_size, positions[1] - start)
    if high <= low:
        return
    each = cell.width() / span.page_size
    painter.fillRect(
        QRectF(cell.left() + low * each, cell.top(), (high - low) * each, cell.height()), brush
    )
