"""A figure as SVG: sharp at any size, one file that needs no other.

Knows Qt's writer of SVG and makes its output smaller, valid and self-contained: no script, no
request, no date. Text in it stays text, or becomes outlines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from app.export.figure import SLIDE, figure_of
from app.export.figure_words import SOFTWARE
from app.export.sayable import sayable
from app.export.styles import font_faces
from app.export.svg_text import FAMILIES, SVG, embed, outlines

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.figure import Figure
    from app.export.options import Options, Progress, SvgText
    from app.export.source import Source

_DUBLIN = "{http://purl.org/dc/elements/1.1/}"
_OWN_FONT = ("font-family", "font-size", "font-weight", "font-style")
_AS_IS = {  # what an element is without a word about it
    "transform": "matrix(1,0,0,1,0,0)",
    "stroke-opacity": "1",
    "fill-opacity": "1",
}
_STYLE = """text {{ white-space: pre; font-variant-ligatures: no-contextual; }}
.sans {{ font-family: {sans}; font-optical-sizing: none; }}
.code {{ font-family: {code}; font-variant-ligatures: none; }}"""


def write_svg(source: Source, out: Path, options: Options, progress: Progress) -> None:
    """Write one moment as an SVG.

    Raises
    ------
    DraftscopeError
        If there is no such moment.
    OSError
        If it cannot be written.
    """
    progress(0, 2, "Painting")
    from app.painting.devices import svg_of

    figure = figure_of(source, options, SLIDE)
    painted = sayable(svg_of(figure.size, figure.paint))
    progress(1, 2, "Writing")
    out.write_bytes(_settled(painted, figure, options.svg_text))


def _settled(painted: str, figure: Figure, text: SvgText) -> bytes:
    """Return what Qt wrote as a file that stands alone."""
    root = ET.fromstring(painted)
    width, height = (str(edge) for edge in figure.size)
    root.attrib.clear()
    root.attrib.update({"width": width, "height": height, "viewBox": f"0 0 {width} {height}"})
    for element in list(root):
        kept = element.tag == SVG + "g" or (element.tag == SVG + "defs" and len(element))
        if not kept:
            root.remove(element)
    for group in root.iter(SVG + "g"):
        _lighten(group)
        _say(group, text)
    _drop_empty(root)
    head = [_element("title", figure.title), _element("desc", figure.description)]
    head.append(_metadata(figure))
    if text == "fonts":
        head.append(_element("style", _style()))
    else:
        root.set("role", "img")  # with its title and description; no words are left in it
    for place, element in enumerate(head):
        element.tail = "\n"
        root.insert(place, element)
    ET.register_namespace("", SVG.strip("{}"))
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    ET.register_namespace("dc", _DUBLIN.strip("{}"))
    body: bytes = ET.tostring(root, "utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + body.split(b"?>\n", 1)[-1] + b"\n"


def _lighten(group: ET.Element) -> None:
    """Take out of a group what says nothing: Qt repeats the whole state each time."""
    for name in _OWN_FONT:
        group.attrib.pop(name, None)
    for name, value in _AS_IS.items():
        if group.get(name) == value:
            del group.attrib[name]
    if group.get("stroke") == "none":
        for name in [name for name in group.attrib if name.startswith("stroke-")]:
            del group.attrib[name]
    for element in group:
        element.attrib.pop("vector-effect", None)  # "none" is what it is without
    group.text = group.tail = "\n"


def _say(group: ET.Element, text: SvgText) -> None:
    found: list[ET.Element] = []
    for element in list(group):
        if element.tag != SVG + "text":
            found.append(element)
        elif text == "outlines":
            found += outlines(element)
        elif (element.text or "").strip():
            embed(element)
            found.append(element)
        element.tail = "\n"
    group[:] = found


def _drop_empty(parent: ET.Element) -> None:
    for element in list(parent):
        _drop_empty(element)
        if element.tag == SVG + "g" and not len(element):
            parent.remove(element)


def _metadata(figure: Figure) -> ET.Element:
    """Return where the figure comes from, in Dublin Core's words."""
    found = ET.Element(SVG + "metadata")
    said = [("title", figure.title), ("creator", SOFTWARE), ("date", figure.recorded)]
    said += [("source", f"{name}: {words}") for name, words in figure.provenance]
    for name, words in said:
        ET.SubElement(found, _DUBLIN + name).text = words
    return found


def _style() -> str:
    return "\n".join([*font_faces(), _STYLE.format(**FAMILIES)])


def _element(name: str, text: str) -> ET.Element:
    element = ET.Element(SVG + name)
    element.text = text
    return element
