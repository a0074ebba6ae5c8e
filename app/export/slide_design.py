"""An empty deck in our design: 16:9, the theme's colours and two faces, in the deck's own master.

So what a speaker adds later looks like the rest. Knows the parts of a presentation's template and
the theme's roles; knows no slide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pptx import Presentation
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.oxml import serialize_part_xml
from pptx.oxml import parse_xml
from pptx.util import Pt

from app.export.slide_text import FACE
from app.export.slide_xml import child, qn

if TYPE_CHECKING:
    from pptx.presentation import Presentation as Deck

    from app.theme import Theme

WIDTH, HEIGHT = 960.0, 540.0  # points: 16:9
MARGIN = 44.0
TITLE = (MARGIN, 20.0, WIDTH - 2 * MARGIN, 50.0)  # left, top, width, height
TITLE_SIZE = 28.0
_KEPT = ("Title Slide", "Title Only")
_UNUSED = (RT.THUMBNAIL, RT.EXTENDED_PROPERTIES)
_OPENING = {
    "ctrTitle": (MARGIN, 60.0, WIDTH - 2 * MARGIN, 90.0),
    "subTitle": (MARGIN, 152.0, WIDTH - 2 * MARGIN, 54.0),
}
_PLACES = {
    "title": TITLE,
    "body": (MARGIN, 96.0, WIDTH - 2 * MARGIN, 400.0),
    "dt": (MARGIN, 508.0, 160.0, 22.0),
    "ftr": (MARGIN + 180.0, 508.0, 500.0, 22.0),
    "sldNum": (WIDTH - MARGIN - 120.0, 508.0, 120.0, 22.0),
    **_OPENING,
}


def empty_deck(theme: Theme) -> Deck:
    """Return a presentation with two layouts, "Title Slide" and "Title Only", and no slide."""
    deck = Presentation()
    deck.slide_width, deck.slide_height = Pt(WIDTH), Pt(HEIGHT)
    _forget_unused(deck)
    master = deck.slide_master
    for layout in list(deck.slide_layouts):
        if layout.name not in _KEPT:
            deck.slide_layouts.remove(layout)
    for page in (master, *deck.slide_layouts):
        for shape in page.placeholders:
            _place(shape)
    _style_titles(master.element)
    _colour(master, theme)
    return deck


def _forget_unused(deck: Deck) -> None:
    """Leave out what the template carries of the machine that it was made on."""
    package = deck.part.package
    for relation in list(package._rels.values()):  # the package has no public way to list them
        if relation.reltype in _UNUSED:
            package.drop_rel(relation.rId)
    for relation in list(deck.part.rels.values()):
        if relation.reltype == RT.PRINTER_SETTINGS:
            deck.part.drop_rel(relation.rId)


def _place(shape: Any) -> None:
    kind = shape.element.find(".//" + qn("p:ph")).get("type", "body")
    left, top, width, height = _PLACES[kind]
    shape.left, shape.top, shape.width, shape.height = map(Pt, (left, top, width, height))
    body = shape.element.find(".//" + qn("a:bodyPr"))
    for side in ("lIns", "rIns", "tIns", "bIns"):
        body.set(side, "0")
    for autofit in list(body):
        body.remove(autofit)  # autofit: what is written fits
    if kind == "ctrTitle":
        body.set("anchor", "b")
    for style in shape.element.iter(qn("a:lvl1pPr")):
        if kind == "subTitle":
            style.set("algn", "l")


def _style_titles(master: Any) -> None:
    level = master.find(".//" + qn("p:titleStyle") + "/" + qn("a:lvl1pPr"))
    level.set("algn", "l")
    letters = level.find(qn("a:defRPr"))
    letters.set("sz", str(int(TITLE_SIZE * 100)))
    letters.set("b", "1")


def _colour(master: Any, theme: Theme) -> None:
    """Put the colours and faces into the deck's own theme, which new shapes and charts take."""
    part = master.part.part_related_by(RT.THEME)
    root: Any = parse_xml(part.blob)
    root.set("name", f"Draftscope {theme.name}")
    dark = theme.name == "dark"
    fates = theme.fates
    colours = {
        "dk1": theme.base if dark else theme.text,
        "lt1": theme.text if dark else theme.base,
        "dk2": theme.raised if dark else theme.muted,
        "lt2": theme.muted if dark else theme.raised,
        "accent1": theme.target,
        "accent2": theme.drafter,
        "accent3": fates["accepted"].colour,
        "accent4": fates["rejected"].colour,
        "accent5": theme.residual,
        "accent6": theme.plain_rate,
        "hlink": theme.accent,
        "folHlink": theme.muted,
    }
    scheme = root.find(".//" + qn("a:clrScheme"))
    assert scheme is not None  # python-pptx's own template
    for name, colour in colours.items():
        slot = scheme.find(qn(f"a:{name}"))
        assert slot is not None
        slot.clear()
        child(slot, "a:srgbClr", val=colour[1:].upper())
    for face in root.iter(qn("a:majorFont"), qn("a:minorFont")):
        latin = face.find(qn("a:latin"))
        assert latin is not None
        latin.set("typeface", FACE)
    part._blob = serialize_part_xml(root)
    if dark:
        names = master.element.find(qn("p:clrMap"))
        for name, slot in (("bg1", "dk1"), ("tx1", "lt1"), ("bg2", "dk2"), ("tx2", "lt2")):
            names.set(name, slot)
