"""A row of figures: name, how it was obtained, a large number, what it divides by.

Knows readings, a theme and a painter. Knows no widget, no figure and no document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter

    from app.theme import Theme
    from app.viewmodels.readings import Reading

_GAP, _COMPACT_GAP = 22.0, 16.0  # between two columns; a hairline stands in its middle
_DETAIL_LINES = 2
_UNIT_GAP = 3.0


def scaled(font: QFont, factor: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the font at another size, with digits of one width unless it says otherwise."""
    out = QFont(font)
    if font.pixelSize() > 0:
        out.setPixelSize(max(1, round(font.pixelSize() * factor)))
    else:
        out.setPointSizeF(font.pointSizeF() * factor)
    out.setWeight(weight)
    if not out.isFeatureSet(QFont.Tag("tnum")):
        out.setFeature(QFont.Tag("tnum"), 1)
    return out


@dataclass(frozen=True)
class Size:
    """A font with its metrics, made once."""

    font: QFont
    metrics: QFontMetricsF

    @classmethod
    def of(cls, font: QFont, factor: float, weight: QFont.Weight = QFont.Weight.Normal) -> Size:
        """Return a font at another size."""
        own = scaled(font, factor, weight)
        return cls(own, QFontMetricsF(own))

    def width(self, text: str) -> float:
        """Return how wide a text is, pixels."""
        return self.metrics.horizontalAdvance(text)


@dataclass(frozen=True)
class Fonts:
    """The sizes of a reading."""

    name: Size
    lead: Size
    number: Size
    unit: Size
    detail: Size

    @classmethod
    def of(cls, font: QFont, *, compact: bool, lead: bool = True) -> Fonts:
        """Derive the sizes from a widget's own font."""
        return _fonts(font.key(), font, compact, lead)


_kept: dict[tuple[str, bool, bool], Fonts] = {}


def _fonts(key: str, font: QFont, compact: bool, lead: bool) -> Fonts:
    """Return the sizes; a window has few fonts, and each reading of each painting asks for them."""
    kept = _kept.get((key, compact, lead))
    if kept is None:
        semi, medium = QFont.Weight.DemiBold, QFont.Weight.Medium
        number = Size.of(font, 1.2 if compact else 1.7, semi)
        kept = _kept[key, compact, lead] = Fonts(
            name=Size.of(font, 0.85, medium),
            lead=Size.of(font, 2.3, semi) if lead and not compact else number,
            number=number,
            unit=Size.of(font, 0.85 if compact else 1.0),
            detail=Size.of(font, 0.85),
        )
    return kept


def row_height(font: QFont, *, compact: bool, lead: bool = True) -> float:
    """Return the height that a row of readings needs, pixels."""
    fonts = Fonts.of(font, compact=compact, lead=lead)
    lines = 0 if compact else _DETAIL_LINES
    return (
        fonts.name.metrics.height()
        + fonts.lead.metrics.height()
        + lines * fonts.detail.metrics.height()
    )


def gap(*, compact: bool) -> float:
    """Return the room between two readings, pixels."""
    return _COMPACT_GAP if compact else _GAP


def columns(
    readings: Sequence[Reading], width: float, font: QFont, *, compact: bool, lead: bool = True
) -> list[tuple[float, float]]:
    """Share a width among readings by what each needs; (left, width) of each, pixels."""
    if not readings:
        return []
    needs = needed_widths(readings, font, compact=compact, lead=lead)
    free = width - gap(compact=compact) * (len(readings) - 1)
    spare = max(0.0, free - sum(needs)) / len(needs)
    shrink = min(1.0, free / sum(needs))
    widths = [need * shrink + min(spare, 60.0) for need in needs]
    lefts = [sum(widths[:i]) + gap(compact=compact) * i for i in range(len(widths))]
    return list(zip(lefts, widths, strict=True))


def needed_widths(
    readings: Sequence[Reading], font: QFont, *, compact: bool, lead: bool = True
) -> list[float]:
    """Return the width at which each reading is whole, pixels."""
    fonts = Fonts.of(font, compact=compact, lead=lead)
    return [
        _need(one, fonts, lead=lead and i == 0, compact=compact) for i, one in enumerate(readings)
    ]


def _need(reading: Reading, fonts: Fonts, *, lead: bool, compact: bool) -> float:
    """Return the width at which a reading is whole; `how` and a long detail may wrap."""
    number = (fonts.lead if lead else fonts.number).width(reading.text)
    unit = _unit(reading, compact=compact)
    if unit and (reading.known or not compact):
        number += fonts.unit.width(unit) + _UNIT_GAP
    widest = max(fonts.name.width(reading.name), number)
    if compact:
        return widest
    detail = fonts.detail.width(f"{reading.how}: {reading.detail}")
    return max(widest, 0.55 * detail + 8)


def _unit(reading: Reading, *, compact: bool) -> str:
    """Return what stands small behind the number; a compact reading has its `how` there."""
    if not reading.known:
        return reading.detail if compact else ""
    return f"{reading.unit} {reading.how}".strip() if compact else reading.unit


def paint_reading(
    painter: QPainter,
    box: QRectF,
    reading: Reading,
    theme: Theme,
    font: QFont,
    *,
    lead: bool = True,
    first: bool = False,
    compact: bool = False,
) -> None:
    """Paint one reading into a box whose height is `row_height`.

    Parameters
    ----------
    lead
        Whether the row has a leading reading, with a larger number.
    first
        Whether this is it.
    """
    fonts = Fonts.of(font, compact=compact, lead=lead)
    names, biggest = fonts.name.metrics, fonts.lead.metrics
    beside = _paint_name(painter, box, reading, theme, fonts, compact=compact)
    baseline = box.top() + names.height() + biggest.ascent()
    leading = lead and first and not compact
    big = fitting(fonts.lead if leading else fonts.number, reading.text, box.width())
    painter.setFont(big.font)
    colour = theme.muted if not reading.known else theme.accent if leading else theme.text
    painter.setPen(QColor(colour))
    painter.drawText(QPointF(box.left(), baseline), reading.text)
    unit = _unit(reading, compact=compact)
    left = box.left() + big.width(reading.text) + _UNIT_GAP
    if unit:
        metrics = fonts.unit.metrics
        painter.setFont(fonts.unit.font)
        painter.setPen(QColor(theme.muted))
        room = box.right() - left + 1
        unit = metrics.elidedText(unit, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(left, baseline), unit)
    if not compact:
        top = box.top() + names.height() + biggest.height()
        detail = (
            reading.detail if beside or not reading.known else f"{reading.how}: {reading.detail}"
        )
        _paint_detail(painter, QPointF(box.left(), top), box.width(), detail, theme, fonts.detail)


def fitting(size: Size, text: str, width: float) -> Size:
    """Return the font, made smaller if that is needed to get the text into the width."""
    wanted = size.width(text)
    if wanted <= width:
        return size
    # A size in whole pixels can round up: a little less, then, rather than more.
    return Size.of(size.font, max(0.3, 0.95 * width / wanted), size.font.weight())


def _paint_name(
    painter: QPainter, box: QRectF, reading: Reading, theme: Theme, fonts: Fonts, *, compact: bool
) -> bool:
    """Paint the name and, where it fits, `how` beside it; return whether it did."""
    names = fonts.name.metrics
    baseline = box.top() + names.ascent()
    name = names.elidedText(reading.name, Qt.TextElideMode.ElideRight, box.width() + 1)
    painter.setFont(fonts.name.font)
    painter.setPen(QColor(theme.text))
    painter.drawText(QPointF(box.left(), baseline), name)
    used = names.horizontalAdvance(name + "  ")
    if compact or used + names.horizontalAdvance(reading.how) > box.width() + 0.5:
        return False
    painter.setPen(QColor(theme.muted))
    painter.drawText(QPointF(box.left() + used, baseline), reading.how)
    return True


def _paint_detail(
    painter: QPainter, at: QPointF, width: float, detail: str, theme: Theme, size: Size
) -> None:
    metrics = size.metrics
    painter.setFont(size.font)
    painter.setPen(QColor(theme.muted))
    for i, line in enumerate(wrap(detail, metrics, width, _DETAIL_LINES)):
        painter.drawText(QPointF(at.x(), at.y() + metrics.ascent() + i * metrics.height()), line)


def paint_separator(painter: QPainter, x: float, box: QRectF, theme: Theme) -> None:
    """Paint the hairline between two readings."""
    painter.setPen(QPen(QColor(theme.border), 1))
    painter.drawLine(QPointF(x, box.top() + 2), QPointF(x, box.bottom() - 2))


def wrap(text: str, metrics: QFontMetricsF, width: float, lines: int) -> list[str]:
    """Break a text at spaces into at most so many lines; the last one is elided."""
    words, out = text.split(" "), [""]  # not at no-break spaces
    while words:
        longer = f"{out[-1]} {words[0]}".strip()
        if not out[-1] or metrics.horizontalAdvance(longer) <= width:
            out[-1] = longer
            words.pop(0)
        elif len(out) < lines:
            out.append("")
        else:
            out[-1] = f"{out[-1]} {' '.join(words)}"
            break
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in out]
