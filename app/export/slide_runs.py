"""Runs written into a native text frame, each fate with its colour and mark.

DrawingML has lines under and through letters and a highlight behind them, and no box and no line
above: a correction's box is a double line, a bonus's dotted box a line of dashes and dots, and a
plain token has none. Knows XML of text; knows no slide and no run of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.export.slide_text import CODE_FACE, LEAST, Paragraph, Run
from app.export.slide_xml import child, element, qn, solid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.theme import Mark, Theme

_MARKS: dict[Mark, tuple[str, str]] = {
    "none": ("", ""),
    "underline": ("u", "sng"),
    "dashed_underline": ("u", "dash"),
    "dotted_underline": ("u", "dotted"),
    "solid_box": ("u", "dbl"),
    "dotted_box": ("u", "dotDashHeavy"),
    "strike": ("strike", "sngStrike"),
    "faint_strike": ("strike", "sngStrike"),
    "overline": ("", ""),
}
_FAINT = ("prompt", "discarded", "cut")  # not bold: told apart from what is, without colour
_ALIGN = {"left": "l", "centre": "ctr", "right": "r"}


def write_paragraphs(frame: Any, paragraphs: Sequence[Paragraph], theme: Theme) -> None:
    """Replace the text of a frame."""
    body = frame._txBody
    for old in body.findall(qn("a:p")):
        body.remove(old)
    for one in paragraphs:
        body.append(_paragraph(one, theme))


def _paragraph(paragraph: Paragraph, theme: Theme) -> Any:
    made = element("a:p")
    properties = child(made, "a:pPr")
    align = _ALIGN[paragraph.align]
    if paragraph.rtl:
        properties.set("rtl", "1")
        align = {"l": "r", "r": "l"}.get(align, align)
    properties.set("algn", align)
    spacing = child(properties, "a:spcBef")
    child(spacing, "a:spcPts", val="0")
    spacing = child(properties, "a:spcAft")
    child(spacing, "a:spcPts", val=str(round(paragraph.after * 100)))
    child(properties, "a:buNone")
    for run in paragraph.runs:
        for number, line in enumerate(run.text.split("\n")):
            if number:
                _letters(child(child(made, "a:br"), "a:rPr"), run, theme)
            if line:
                letters = child(made, "a:r")
                _letters(child(letters, "a:rPr"), run, theme)
                child(letters, "a:t", line)
    if not paragraph.text:  # an empty line is as high as its letters would be
        size = paragraph.runs[0].size if paragraph.runs else LEAST
        child(made, "a:endParaRPr", lang="en-US", sz=str(round(size * 100)))
    return made


def _letters(properties: Any, run: Run, theme: Theme) -> None:
    """Fill in an element of run properties, in the order that the schema asks for."""
    style = theme.fates.get(run.fate)
    colour = style.colour if style is not None else run.colour or theme.text
    bold = run.bold and run.fate not in _FAINT
    properties.set("lang", "en-US")
    properties.set("sz", str(round(run.size * 100)))
    properties.set("b", "1" if bold else "0")
    if style is not None and _MARKS[style.mark][0]:
        name, value = _MARKS[style.mark]
        properties.set(name, value)
    properties.set("dirty", "0")
    solid(properties, colour)
    if style is not None and style.fill != theme.base:
        solid(properties, style.fill, "a:highlight")
    if run.code:
        for kind in ("latin", "cs"):
            face = {"typeface": CODE_FACE, "pitchFamily": "49", "charset": "0"}
            child(properties, f"a:{kind}", **face)


def write_slide_number(shape: Any, colour: str) -> None:
    """Put a field into a shape that shows the number of its slide."""
    body = shape.text_frame._txBody
    for old in body.findall(qn("a:p")):
        body.remove(old)
    made = child(body, "a:p")
    child(made, "a:pPr", algn="r")
    field = child(made, "a:fld", id="{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}", type="slidenum")
    properties = child(field, "a:rPr", lang="en-US", sz="1050")
    solid(properties, colour)
    child(field, "a:t", "‹#›")
