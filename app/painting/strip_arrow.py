"""The arrow in the strip from what an n-gram drafter copied to the draft that it became.

Knows where a layout placed the chips in sight. Lays out nothing that is not: a source further up is
an arrow from the edge. Knows no document and no widget, so an export's picture is the window's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.painting.strip_layout import StripLayout
    from app.theme import Theme

_LINE = 1 / 13  # of an em
_HEAD = (0.42, 0.30)  # length and half width of its point, in ems
_GAP = 0.10  # between a span's line and its boxes, in ems
_DRAFT_BELOW = "draft"


@dataclass(frozen=True)
class Ends:
    """The chips that an arrow ties, by index in order, and what its edge says without the source.

    Attributes
    ----------
    sources, drafted
        Neither is empty.
    words
        Names the source where that is not in sight.
    """

    sources: tuple[int, ...]
    drafted: tuple[int, ...]
    words: str


@dataclass(frozen=True)
class Arrow:
    """An arrow with its place: lengths below the layout's origin.

    Attributes
    ----------
    sources, drafted
        What is in sight of either span, in rectangles; one of them may be empty.
    start, leave, arrive, end
        The curve's ends and the points that bend it.
    words
        Written where the span that is not in sight would be, else "".
    """

    sources: tuple[QRectF, ...]
    drafted: tuple[QRectF, ...]
    start: QPointF
    leave: QPointF
    arrive: QPointF
    end: QPointF
    words: str

    @property
    def level(self) -> bool:
        """Whether both spans are in sight on one row: the arrow goes above it."""
        both = bool(self.sources and self.drafted)
        return both and self.sources[-1].top() == self.drafted[0].top()


def place_arrow(layout: StripLayout, ends: Ends, top: float, height: float) -> Arrow | None:
    """Return the arrow as it is to be seen, or None if neither of its ends is in sight.

    Parameters
    ----------
    top, height
        Of what is seen, below the layout's origin; laid out already.
    """
    seen = _rows_in_sight(layout, top, height)
    chips = [one.chip for row in seen for one in layout.rows[row]]
    if not chips:
        return None
    sources = _spans(layout, ends.sources, seen, (chips[0], chips[-1]))
    drafted = _spans(layout, ends.drafted, seen, (chips[0], chips[-1]))
    gap = layout.em * _GAP
    if sources and drafted:
        source, draft = sources[-1], drafted[0]
        if source.top() == draft.top():
            return _level(layout, sources, drafted)
        start = QPointF(source.center().x(), source.bottom() + gap)
        end = QPointF(draft.center().x(), draft.top() - gap)
        return Arrow(sources, drafted, start, *_bend(layout, start, end), end, "")
    if drafted and ends.sources[0] < chips[0]:
        end = QPointF(drafted[0].center().x(), drafted[0].top() - gap)
        start = _at_edge(layout, drafted[0], top + layout.em * 0.9)
        return Arrow((), drafted, start, *_bend(layout, start, end), end, ends.words)
    if sources and ends.drafted[-1] > chips[-1]:
        start = QPointF(sources[-1].center().x(), sources[-1].bottom() + gap)
        end = _at_edge(layout, sources[-1], top + height - layout.em * 0.9)
        return Arrow(sources, (), start, *_bend(layout, start, end), end, _DRAFT_BELOW)
    return None


def _rows_in_sight(layout: StripLayout, top: float, height: float) -> range:
    """Return the rows of which at least half is seen."""
    half = layout.row_height / 2
    first = max(0, int((top + half) // layout.row_height))
    return range(first, min(len(layout.rows), int((top + height + half) // layout.row_height)))


def _spans(
    layout: StripLayout, chips: Iterable[int], seen: range, ends: tuple[int, int]
) -> tuple[QRectF, ...]:
    """Return a rectangle for each row, and for each stretch of chips that others stand between."""
    boxes: list[QRectF] = []
    last = (-1, -1)
    for chip in chips:
        if ends[0] <= chip <= ends[1]:
            for row, placed in layout.parts_of(chip):
                if row in seen and placed.kind != "newline":
                    box = layout.box(row, placed)
                    goes_on = boxes and last[0] == row and chip - last[1] <= 1
                    boxes[-1 if goes_on else len(boxes) :] = [
                        boxes[-1].united(box) if goes_on else box
                    ]
                    last = (row, chip)
    return tuple(boxes)


def _level(layout: StripLayout, sources: tuple[QRectF, ...], drafted: tuple[QRectF, ...]) -> Arrow:
    gap = layout.em * _GAP
    start = QPointF(sources[-1].center().x(), sources[-1].top() - gap)
    end = QPointF(drafted[0].center().x(), drafted[0].top() - gap)
    rise = min(layout.row_height * 1.1, layout.em * 0.6 + abs(end.x() - start.x()) / 5)
    up = QPointF(0, -rise)
    return Arrow(sources, drafted, start, start + up, end + up, end, "")


def _bend(layout: StripLayout, start: QPointF, end: QPointF) -> tuple[QPointF, QPointF]:
    """Return the points that bend the curve: it leaves and arrives upright, and is never straight.

    A straight line down would look like a mark of the text.
    """
    down = max(end.y() - start.y(), layout.em)
    reach = min(0.55 * down, 4 * layout.row_height)
    across = end.x() - start.x()
    bow = layout.em * 1.5
    side = bow if start.x() + bow < layout.width else -bow
    lean = QPointF(side if abs(across) < 2 * layout.em else 0.0, 0.0)
    return start + QPointF(0, reach) + lean, end - QPointF(0, reach) + lean


def _at_edge(layout: StripLayout, box: QRectF, y: float) -> QPointF:
    """Return where words stand near an edge: never over the span that they are tied to."""
    room = 3.0 * layout.em
    x = box.center().x() - 2 * layout.em
    if box.top() - layout.em < y < box.bottom() + layout.em:
        fits = box.right() + 2 * room < layout.width
        x = box.right() + 1.2 * room if fits else box.left() - 1.2 * room
    return QPointF(min(max(x, room), max(room, layout.width - room)), y)


def paint_arrow(
    painter: QPainter,
    rect: QRectF,
    layout: StripLayout,
    arrow: Arrow,
    theme: Theme,
    *,
    scroll: float = 0.0,
    part: QRectF | None = None,
) -> int:
    """Paint an arrow over the strip in `rect` and return how many items were painted.

    Parameters are `app.painting.strip.paint_strip`'s.
    """
    painter.save()
    if part is not None:
        painter.setClipRect(part)
    painter.translate(rect.left(), rect.top() - scroll)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    width = max(1.5, layout.em * _LINE)
    items = _paint_way(painter, layout, arrow, theme, width)
    painter.setPen(QPen(QColor(theme.accent), width))
    for line in _lines(layout, arrow):
        painter.drawLine(*line)
        items += 1
    if arrow.words:
        _paint_words(painter, layout, arrow, theme)
        items += 1
    painter.restore()
    return items


def _paint_way(
    painter: QPainter, layout: StripLayout, arrow: Arrow, theme: Theme, width: float
) -> int:
    """Paint the curve and its point, with a halo that keeps them apart from the text below."""
    if arrow.words and arrow.end.y() - arrow.start.y() < 1.2 * layout.em:
        return 0  # the words stand beside the span
    path = QPainterPath(arrow.start)
    long, _ = (layout.em * one for one in _HEAD)
    neck = arrow.end - QPointF(0, 0.8 * long)  # it arrives from above
    path.cubicTo(arrow.leave, arrow.arrive - (arrow.end - neck), neck)
    head = _head(layout, arrow.end)
    halo = QColor(theme.base)
    halo.setAlphaF(0.8)
    accent = QColor(theme.accent)
    items = 0
    for colour, more in ((halo, 2 * width), (accent, 0.0)):
        pen = QPen(colour, width + more)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        painter.setPen(QPen(colour, more) if more else Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(head)
        items += 2
    return items


def _head(layout: StripLayout, tip: QPointF) -> QPolygonF:
    long, half = (layout.em * one for one in _HEAD)
    return QPolygonF([tip, tip + QPointF(-half, -long), tip + QPointF(half, -long)])


def _lines(layout: StripLayout, arrow: Arrow) -> Sequence[tuple[QPointF, QPointF]]:
    """Return the lines that hold what is in sight of either span together."""
    gap = layout.em * _GAP
    lines = [(QPointF(b.left(), b.top() - gap), QPointF(b.right(), b.top() - gap))
             for b in arrow.drafted]  # fmt: skip
    for box in arrow.sources:
        y = box.top() - gap if arrow.level else box.bottom() + gap
        lines.append((QPointF(box.left(), y), QPointF(box.right(), y)))
    return lines


def _paint_words(painter: QPainter, layout: StripLayout, arrow: Arrow, theme: Theme) -> None:
    """Write on the edge what is beyond it, with a point that shows the way."""
    above = not arrow.sources
    at = arrow.start if above else arrow.end
    text = f"{'↑' if above else '↓'} {arrow.words}"
    metrics = QFontMetricsF(layout.small_font)
    wide = metrics.horizontalAdvance(text) + layout.em * 0.8
    high = metrics.height() + layout.em * 0.1
    left = min(max(at.x() - wide / 2, 0.0), max(0.0, layout.width - wide))
    box = QRectF(left, at.y() - high / 2 - (0 if not above else high / 2), wide, high)
    painter.setPen(QPen(QColor(theme.accent), max(1.0, layout.em / 16)))
    painter.setBrush(QColor(theme.base))
    painter.drawRoundedRect(box, high / 2, high / 2)
    painter.setFont(layout.small_font)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
