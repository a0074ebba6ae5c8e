"""The words of an SVG, which Qt writes with the name of a font: made to look alike anywhere.

Either with the bundled fonts in the file, words staying words, as wide as they were laid out
even where another font has to stand in; or as outlines, which need no font at all. Knows the
elements that Qt writes. Knows no figure.
"""

from __future__ import annotations

import base64
import unicodedata
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from app.painting.outlines import Words

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
FAMILIES = {
    "sans": '"Draftscope Sans", Inter, system-ui, sans-serif',
    "code": '"Draftscope Code", "JetBrains Mono", ui-monospace, monospace',
}
_CODE = "Mono"  # in the name of the typeface of tokens
_LONG = 8  # letters
_LATIN = 0x24F  # the last letter that the embedded fonts have, nearly


def embed(text: ET.Element) -> None:
    """Make words that are shown with the embedded font, as wide as they were laid out."""
    from app.painting.outlines import number, width_of

    words = _words(text)
    attributes = {"x": text.get("x", "0"), "y": text.get("y", "0"), **_fill(text)}
    attributes |= {
        "font-size": text.get("font-size", ""),
        "class": "code" if words.code else "sans",
    }
    if words.weight != 400:
        attributes["font-weight"] = str(words.weight)
    if words.right_to_left:
        attributes |= {"direction": "rtl", "text-anchor": "end"}  # so that x stays its left edge
    # Short words keep the width that their font has: the embedded one is narrower by a hair.
    if len(words.text) >= _LONG or any(ord(letter) > _LATIN for letter in words.text):
        width = number(width_of(words))
        attributes |= {"textLength": width, "lengthAdjust": "spacingAndGlyphs"}
    attributes[SPACE] = "preserve"
    text.attrib.clear()
    text.attrib.update(attributes)


def outlines(text: ET.Element) -> list[ET.Element]:
    """Return what is seen of words: a path, and pictures of glyphs that are some (an emoji)."""
    from app.painting.outlines import number, outlined

    at = float(text.get("x", "0")), float(text.get("y", "0"))
    data, pictures = outlined(_words(text), *at, text.get("fill", ""))
    found = []
    if data:
        # Letters may overlap, and Qt's group around them would leave holes there.
        found.append(ET.Element(SVG + "path", {"d": data, "fill-rule": "nonzero", **_fill(text)}))
    for one in pictures:
        sides = (one.left, one.top, one.width, one.height)
        box = dict(zip(("x", "y", "width", "height"), map(number, sides), strict=True))
        packed = base64.b64encode(one.png).decode()
        link = {XLINK + "href": f"data:image/png;base64,{packed}"}
        found.append(ET.Element(SVG + "image", {**box, **link}))
    return found


def _words(text: ET.Element) -> Words:
    from app.painting.outlines import Words

    words = text.text or ""
    return Words(
        words,
        code=_CODE in text.get("font-family", ""),
        pixels=float(text.get("font-size", "12").removesuffix("px")),
        weight=int(text.get("font-weight", "400")),
        right_to_left=_is_right_to_left(words),
    )


def _fill(text: ET.Element) -> dict[str, str]:
    # The opacity is said even where it is 1: the group around may have another.
    opacity = text.get("fill-opacity", "1")
    return {"fill": text.get("fill", ""), "fill-opacity": opacity, "stroke": "none"}


def _is_right_to_left(words: str) -> bool:
    """Return whether a piece reads from the right: Qt writes each direction as a piece."""
    strong = (unicodedata.bidirectional(letter) for letter in words)
    return next((kind for kind in strong if kind in ("L", "R", "AL")), "L") != "L"
