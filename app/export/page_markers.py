"""The moments that someone marked, as a replay page holds them. Knows no HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from engine.trace.markers import Marker

_PHASES = {"draft": ", drafted", "verify": ", judged", "done": ""}


class PageMarker(msgspec.Struct, frozen=True, omit_defaults=True):
    """One marker: the end of a phase of a round."""

    id: str
    round: int  # index; -1 is the prompt alone
    phase: str
    where: str  # the moment in words
    title: str
    note: str = ""
    pause: bool = False
    slot: int | None = None  # token for the court


def page_markers(document: Document, rounds: int) -> tuple[PageMarker, ...]:
    """Return the markers of the first rounds, in order."""
    return tuple(_page_marker(one) for one in document.markers if one.round < rounds)


def _page_marker(marker: Marker) -> PageMarker:
    where = f"round {marker.round + 1}{_PHASES[marker.phase]}" if marker.round >= 0 else "the start"
    return PageMarker(
        id=marker.id,
        round=marker.round,
        phase=marker.phase,
        where=where,
        title=marker.title or where[:1].upper() + where[1:],
        note=marker.note,
        pause=marker.pause,
        slot=marker.slot,
    )
