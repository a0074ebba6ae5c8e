"""Readings beside or below each other, with a hairline between two. Knows no widget.

Knows readings, a theme and a painter; how one reading looks is `readings`'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from app.painting.readings import columns, gap, paint_reading, paint_separator, row_height

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont

    from app.theme import Theme
    from app.viewmodels.readings import Reading

STACK_GAP = 2.0


def stack_height(count: int, font: QFont, *, compact: bool, lead: bool = True) -> float:
    """Return the height of so many readings below each other, pixels."""
    line = row_height(font, compact=compact, lead=lead)
    return (line + STACK_GAP) * max(1, count) - STACK_GAP


def reading_boxes(
    box: QRectF,
    readings: Sequence[Reading],
    font: QFont,
    *,
    compact: bool,
    lead: bool = True,
    stacked: bool = False,
) -> list[QRectF]:
    """Return where each reading stands in a box."""
    if stacked:
        line = row_height(font, compact=compact, lead=lead)
        tops = [box.top() + at * (line + STACK_GAP) for at in range(len(readings))]
        return [QRectF(box.left(), top, box.width(), line) for top in tops]
    spans = columns(readings, box.width(), font, compact=compact, lead=lead)
    return [QRectF(box.left() + left, box.top(), width, box.height()) for left, width in spans]


def paint_readings(
    painter: QPainter,
    box: QRectF,
    readings: Sequence[Reading],
    theme: Theme,
    font: QFont,
    *,
    compact: bool = False,
    lead: bool = True,
    stacked: bool = False,
) -> None:
    """Paint readings into a box, of which the first leads where `lead` says so."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    boxes = reading_boxes(box, readings, font, compact=compact, lead=lead, stacked=stacked)
    for i, (reading, own) in enumerate(zip(readings, boxes, strict=True)):
        if i and not stacked:
            paint_separator(painter, own.left() - gap(compact=compact) / 2, own, theme)
        paint_reading(painter, own, reading, theme, font, lead=lead, first=i == 0, compact=compact)
