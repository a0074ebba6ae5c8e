"""Words as outlines, shaped as Qt shapes them in any script; and how wide words are.

Knows the bundled typefaces and paths as SVG writes them. Knows no file and no theme.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGlyphRun,
    QImage,
    QPainter,
    QPainterPath,
    QTextLayout,
    QTextLine,
    QTextOption,
)

from app.painting.devices import packed
from app.painting.pixel_fonts import code_pixels, ui_pixels

if TYPE_CHECKING:
    from collections.abc import Callable

_PICTURES = ("CBDT", "sbix")  # tables of fonts whose glyphs are pictures
_FINE = 6  # pixels of a picture for each unit of a glyph that is a picture itself


@dataclass(frozen=True)
class Words:
    """Words of one direction, in one of the typefaces.

    Attributes
    ----------
    code
        Whether in the typeface of tokens.
    pixels
        Height of the font.
    weight
        As fonts count it: 400 is regular.
    """

    text: str
    code: bool
    pixels: float
    weight: int
    right_to_left: bool = False

    @property
    def font(self) -> QFont:
        """The font, as painters of files get it."""
        make: Callable[..., QFont] = code_pixels if self.code else ui_pixels
        return make(self.pixels, QFont.Weight(self.weight), plain=True)


@dataclass(frozen=True)
class Picture:
    """Glyphs that have no outline, an emoji for one: a PNG and where it stands."""

    left: float
    top: float
    width: float
    height: float
    png: bytes


def width_of(words: Words) -> float:
    """Return how wide words are laid out."""
    return QFontMetricsF(words.font).horizontalAdvance(words.text)


def outlined(
    words: Words, left: float, baseline: float, colour: str
) -> tuple[str, tuple[Picture, ...]]:
    """Return words as the data of a path, "" for none, and what of them only pictures show.

    Parameters
    ----------
    left, baseline
        Where they begin, at the left whatever their direction.
    colour
        Of what a picture shows of them; a path has none.
    """
    layout = QTextLayout(words.text, words.font)
    line = _laid_out(layout, words)
    shift = QPointF(left, baseline) - QPointF(line.naturalTextRect().left(), line.ascent())
    path = QPainterPath()
    pictures: list[Picture] = []
    for run in layout.glyphRuns():
        raw = run.rawFont()
        if any(raw.fontTable(table).size() for table in _PICTURES):
            pictures.append(_picture(run, QColor(colour), shift))
            continue
        for glyph, place in zip(run.glyphIndexes(), run.positions(), strict=True):
            path.addPath(raw.pathForGlyph(glyph).translated(place + shift))
    return path_data(path), tuple(pictures)


def path_data(path: QPainterPath) -> str:
    """Return a path as SVG writes it."""
    parts: list[str] = []
    at = 0
    while at < path.elementCount():
        element = path.elementAt(at)
        if element.isCurveTo():
            points = [path.elementAt(at + step) for step in range(3)]
            parts.append("C" + " ".join(f"{number(one.x)} {number(one.y)}" for one in points))
            at += 3
            continue
        move = "M" if element.isMoveTo() else "L"
        parts.append(f"{move}{number(element.x)} {number(element.y)}")
        at += 1
    return "".join(parts)


def number(value: float) -> str:
    """Return a number of two places at most."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def _laid_out(layout: QTextLayout, words: Words) -> QTextLine:
    """Put words on one line, in the direction in which they are read."""
    option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
    if words.right_to_left:
        option.setTextDirection(Qt.LayoutDirection.RightToLeft)
    else:
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(width_of(words) + 1.0)
    layout.endLayout()
    return line


def _picture(run: QGlyphRun, colour: QColor, shift: QPointF) -> Picture:
    raw, places = run.rawFont(), run.positions()
    advances = raw.advancesForGlyphIndexes(run.glyphIndexes())
    left = min(place.x() for place in places) - 1
    right = max(place.x() + step.x() for place, step in zip(places, advances, strict=True)) + 1
    top = places[0].y() - raw.ascent() - 1
    width, height = right - left, raw.ascent() + raw.descent() + 2
    across, down = math.ceil(width * _FINE), math.ceil(height * _FINE)
    image = QImage(across, down, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.scale(across / width, down / height)
        painter.translate(-left, -top)
        painter.setPen(colour)
        painter.drawGlyphRun(QPointF(), run)
    return Picture(left + shift.x(), top + shift.y(), width, height, packed(image))
