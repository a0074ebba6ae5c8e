"""Elements of a presentation's XML that python-pptx has no words for. Knows names, no slide."""

from __future__ import annotations

from typing import Any

from pptx.oxml.ns import qn
from pptx.oxml.xmlchemy import OxmlElement

__all__ = ["child", "element", "qn"]


def element(name: str, text: str = "", /, **attributes: str) -> Any:
    """Return a new element by its prefixed name, as in "a:pPr"."""
    made: Any = OxmlElement(name)
    for key, value in attributes.items():
        made.set(key, value)
    if text:
        made.text = text
    return made


def child(parent: Any, name: str, text: str = "", /, **attributes: str) -> Any:
    """Append a new element to another and return it."""
    made = element(name, text, **attributes)
    parent.append(made)
    return made


def solid(parent: Any, colour: str, name: str = "a:solidFill") -> None:
    """Append a fill of one colour, `#rrggbb`."""
    child(child(parent, name), "a:srgbClr", val=colour[1:].upper())
