"""Where the panels of a scene stand, at any size and shape: columns where it is wide, a stack else.

Knows boxes in logical pixels and the panels' names. Knows no painter and no run. A panel that has
no room is left out, the lowest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.painting.room import Room, side_by_side, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QRectF

GAP = 12.0
_WIDE = 740.0  # from this width on there are two columns
_SHARES = (58.0, 42.0)  # of the text and of what stands beside it
_LEAST = {"text": 120.0, "court": 200.0, "timeline": 150.0}
_WEIGHTS = {"court": 1.5}  # of the height that panels share
_LEAST_FIGURES = 200.0  # of any other panel
_MOST_TIMELINE, _TIMELINE = 190.0, 0.28  # pixels, and share of the height of two panels
_TEXT_ROOM = 0.38  # of a stack's height, the timeline's left out, goes to the text


def arranged(box: QRectF, names: Sequence[str]) -> dict[str, QRectF]:
    """Return a box for each panel that has room.

    Parameters
    ----------
    box
        What is left for panels.
    names
        Those wanted, the most important first.
    """
    main = [name for name in names if name == "text"]
    beside = [name for name in names if name not in ("text", "timeline")]
    below = [name for name in names if name == "timeline"]
    if box.width() >= _WIDE and box.width() >= box.height() and beside and (main or below):
        left, right = side_by_side(box, _SHARES, GAP)
        return {**_column(left, [*main, *below]), **_column(right, beside)}
    return _column(box, [*main, *beside, *below])


def _column(box: QRectF, names: Sequence[str]) -> dict[str, QRectF]:
    """Put panels below each other: the timeline low at the bottom, the others share the rest."""
    names = _with_room(box.height(), list(names))
    room, boxes = Room(box), {}
    if "timeline" in names and len(names) > 1:
        share = _TIMELINE * 2 / len(names)
        height = max(_LEAST["timeline"], min(_MOST_TIMELINE, share * box.height()))
        part = room.bottom(height, gap=GAP)
        if part is not None:
            boxes["timeline"] = part
        names = [name for name in names if name != "timeline"]
    if "text" in names and len(names) > 1:
        part = room.top(_TEXT_ROOM * (room.box.height() - GAP), gap=GAP)
        if part is not None:
            boxes["text"] = part
        names = [name for name in names if name != "text"]
    parts = stacked(room.box, [_WEIGHTS.get(name, 1.0) for name in names], GAP)
    return {**boxes, **dict(zip(names, parts, strict=True))}


def _with_room(height: float, names: list[str]) -> list[str]:
    """Leave out the last panels but one until the others have the least that they need."""
    while len(names) > 1:
        needed = sum(_LEAST.get(name, _LEAST_FIGURES) for name in names)
        if needed + GAP * (len(names) - 1) <= height:
            break
        names = names[:-1]
    return names
