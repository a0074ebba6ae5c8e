"""The words of an SVG, which Qt writes with the name of a font: made to look alike anywhere.

Either with the bundled fonts in the file, words staying words, as wide as they were laid out
even where another font has to stand in; or as outlines, which need no font at all. Knows the
elements that Qt writes and the bundled typefaces. Knows no figure.
"""

from __future__ import annotations

import base64
import math
import unicodedata
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

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

from app.export.in_memory import packed
from app.fonts import CODE_FAMILY
from app.painting.pixel_fonts import code_pixels, ui_pixels

if TYPE_CHECKING:
    from collections.abc import Callable

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
FAMILIES = {
    False: '"Draftscope Sans", Inter, system-ui, sans-serif',
    True: '"Draftscope Code", "JetBrains Mono", ui-monospace, monospace',
}
_LONG = 8  # letters
_LATIN = 0x24F  # the last letter that the embedded fonts have, nearly
_PICTURES = ("CBDT", "sbix")  # tables of fonts whose glyphs are pictures
_FINE = 6  # pixels of a picture for each unit of a glyph that is a picture itself


def embed(text: ET.Element) -> None:
    """Make words that are shown with the embedded font, as wide as they were laid out."""
    words, font = text.text or "", font_of(text)
    code = _is_code(text)
    size, weight = text.get("font-size", ""), text.get("font-weight", "400")
    x, y, fill = text.get("x", "0"), text.get("y", "0"), _fill(text)
    text.attrib.clear()
    text.attrib.update({"x": x, "y": y, **fill, "font-size": size})
    text.set("class", "code" if code else "sans")
    if weight != "400":
        text.set("font-weight", weight)
    if _is_right_to_left(words):
        text.set("direction", "rtl")
        text.set("text-anchor", "end")  # so that x stays its left edge
    # Short words keep the width that their font has: the embedded one is narrower by a hair.
    if len(words) >= _LONG or any(ord(letter) > _LATIN for letter in words):
        text.set("textLength", _number(QFontMetricsF(font).horizontalAdvance(words)))
        text.set("lengthAdjust", "spacingAndGlyphs")
    text.set(SPACE, "preserve")


def outlined(text: ET.Element) -> list[ET.Element]:
    """Return what is seen of words: a path, and pictures of glyphs that are some (an emoji)."""
    words, font = text.text or "", font_of(text)
    layout = QTextLayout(words, font)
    line = _laid_out(layout, words, font)
    at = QPointF(float(text.get("x", "0")), float(text.get("y", "0")))
    shift = at - QPointF(line.naturalTextRect().left(), line.ascent())
    path = QPainterPath()
    pictures: list[ET.Element] = []
    for run in layout.glyphRuns():
        raw = run.rawFont()
        if any(raw.fontTable(table).size() for table in _PICTURES):
            pictures.append(_picture(run, QColor(text.get("fill", "")), shift))
            continue
        for glyph, place in zip(run.glyphIndexes(), run.positions(), strict=True):
            path.addPath(raw.pathForGlyph(glyph).translated(place + shift))
    data = path_data(path)
    if not data:
        return pictures
    # Letters may overlap, and Qt's group around them would leave holes there.
    return [ET.Element(SVG + "path", {"d": data, "fill-rule": "nonzero", **_fill(text)}), *pictures]


def _laid_out(layout: QTextLayout, words: str, font: QFont) -> QTextLine:
    """Put words on one line, in the direction in which they are read."""
    right_to_left = _is_right_to_left(words)
    option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
    option.setTextDirection(
        Qt.LayoutDirection.RightToLeft if right_to_left else Qt.LayoutDirection.LeftToRight
    )
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(QFontMetricsF(font).horizontalAdvance(words) + 1.0)
    layout.endLayout()
    return line


def font_of(text: ET.Element) -> QFont:
    """Return the font that words were painted with."""
    make: Callable[..., QFont] = code_pixels if _is_code(text) else ui_pixels
    pixels = float(text.get("font-size", "12").removesuffix("px"))
    weight = QFont.Weight(int(text.get("font-weight", "400")))
    return make(pixels, weight, plain=True)


def path_data(path: QPainterPath) -> str:
    """Return a path as SVG writes it."""
    parts: list[str] = []
    at = 0
    while at < path.elementCount():
        element = path.elementAt(at)
        if element.isCurveTo():
            points = [path.elementAt(at + step) for step in range(3)]
            parts.append("C" + " ".join(f"{_number(p.x)} {_number(p.y)}" for p in points))
            at += 3
            continue
        parts.append(
            f"{'M' if element.isMoveTo() else 'L'}{_number(element.x)} {_number(element.y)}"
        )
        at += 1
    return "".join(parts)


def _picture(run: QGlyphRun, colour: QColor, shift: QPointF) -> ET.Element:
    """Return glyphs as a picture, where a font has no outlines of them."""
    raw, places = run.rawFont(), run.positions()
    advances = raw.advancesForGlyphIndexes(run.glyphIndexes())
    left = min(place.x() for place in places) - 1
    right = max(place.x() + step.x() for place, step in zip(places, advances, strict=True)) + 1
    top = places[0].y() - raw.ascent() - 1
    width, height = right - left, raw.ascent() + raw.descent() + 2
    image = QImage(math.ceil(width * _FINE), math.ceil(height * _FINE), QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.scale(image.width() / width, image.height() / height)
    painter.translate(-left, -top)
    painter.setPen(colour)
    painter.drawGlyphRun(QPointF(), run)
    painter.end()
    data = base64.b64encode(packed(image)).decode()
    return ET.Element(
        SVG + "image",
        {
            "x": _number(left + shift.x()),
            "y": _number(top + shift.y()),
            "width": _number(width),
            "height": _number(height),
            XLINK + "href": f"data:image/png;base64,{data}",
        },
    )


def _fill(text: ET.Element) -> dict[str, str]:
    # The opacity is said even where it is 1: the group around may have another.
    opacity = text.get("fill-opacity", "1")
    return {"fill": text.get("fill", ""), "fill-opacity": opacity, "stroke": "none"}


def _is_code(text: ET.Element) -> bool:
    return CODE_FAMILY in text.get("font-family", "")


def _is_right_to_left(words: str) -> bool:
    """Return whether a piece reads from the right: Qt writes each direction as a piece."""
    strong = (unicodedata.bidirectional(letter) for letter in words)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"


def _number(value: float) -> str:
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written
