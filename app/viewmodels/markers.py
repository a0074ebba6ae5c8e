"""Which marker the picture stands at, which come before and after it, and what is said of them.

Knows markers, a cursor and words. Knows no widget and no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from engine.trace.markers import LONGEST_NOTE, LONGEST_TITLE, PHASES, Marker, fresh_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Cursor
    from app.viewmodels.refs import TokenRef

Place = tuple[int, int]  # a round and a phase's number, as moments are ordered


def place_of(marker: Marker) -> Place:
    """Return where a marker stands among all moments."""
    return marker.round, PHASES.index(marker.phase)


def reached(cursor: Cursor, drafted: int) -> Place:
    """Return the last moment that the picture has come to the end of.

    Parameters
    ----------
    drafted
        How many tokens the cursor's round has.
    """
    index, phase, revealed = cursor
    number = PHASES.index(phase)
    if phase == "done" or (revealed >= drafted and drafted):
        return index, number
    return (index, number - 1) if number else (index - 1, len(PHASES) - 1)


def marker_at(markers: Sequence[Marker], cursor: Cursor) -> Marker | None:
    """Return the last marker of the moment that the picture stands at, or None."""
    place = cursor.round, PHASES.index(cursor.phase)
    found = [marker for marker in markers if place_of(marker) == place]
    return found[-1] if found else None


def marker_shown(markers: Sequence[Marker], cursor: Cursor, drafted: int) -> Marker | None:
    """Return the marker whose words stand beside the picture, or None.

    They come with its moment and stay until the round after it is over, or another marker comes.
    """
    place = reached(cursor, drafted)
    passed = [marker for marker in markers if place_of(marker) <= place]
    if not passed or passed[-1].round < cursor.round - 1:
        return None
    told = passed[-1]
    return told if told.title or told.note else None


def neighbour(
    markers: Sequence[Marker], cursor: Cursor, drafted: int, step: Literal[-1, 1]
) -> Marker | None:
    """Return the next marker after the picture, or the last one before it; None if none is."""
    if step > 0:
        past = reached(cursor, drafted)
        return next((one for one in markers if place_of(one) > past), None)
    here = cursor.round, PHASES.index(cursor.phase)
    return next((one for one in reversed(markers) if place_of(one) < here), None)


def new_marker(document: Document, cursor: Cursor, pinned: TokenRef | None) -> Marker:
    """Return a marker, yet without words, of the moment on show.

    Parameters
    ----------
    pinned
        The token before the court; it is taken along if it belongs to the round on show.
    """
    slot = pinned.slot if pinned is not None and pinned.round == cursor.round >= 0 else None
    return Marker(
        run=document.run or "",
        id=fresh_id(document.known_markers),
        round=cursor.round,
        phase=cursor.phase,
        slot=slot,
    )


def with_words(marker: Marker, title: str, note: str, *, pause: bool) -> Marker:
    """Return the marker with other words, no longer than a trace takes."""
    title = " ".join(title.split())[:LONGEST_TITLE]
    return msgspec.structs.replace(
        marker, title=title, note=note.strip()[:LONGEST_NOTE], pause=pause
    )


def where(marker: Marker) -> str:
    """Say where a marker stands: "start", "round 12", "round 12, verdicts"."""
    if marker.round < 0:
        return "start"
    phase = {"draft": ", drafted", "verify": ", verdicts"}.get(marker.phase, "")
    return f"round {marker.round + 1}{phase}"


def headline(marker: Marker) -> str:
    """Return what a marker is called in a list."""
    return marker.title or (marker.note.splitlines() or [""])[0] or f"Marker {marker.id}"


def told(marker: Marker) -> str:
    """Say a marker in one line: where, title and note."""
    words = ": ".join(filter(None, (marker.title, " ".join(marker.note.split()))))
    return f"{where(marker)} · {words}" if words else where(marker)
