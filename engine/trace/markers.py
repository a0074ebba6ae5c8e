"""Moments that someone marked, and what is to be said of them: appended to a trace as events.

A trace is only ever appended to, so a marker is changed or taken away by another event with its
id: the last one wins. Knows no file and no picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.trace.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_TITLE = 120  # characters
LONGEST_NOTE = 2_000
PHASES = ("draft", "verify", "done")


class Marker(Frozen, frozen=True, tag="marker"):
    """A moment of a run: the end of a phase of a round, with words for whoever is shown it."""

    run: str
    id: str  # of markers with one id in one run, the last one holds
    round: int  # index; -1 is the prompt alone
    phase: Literal["draft", "verify", "done"] = "done"
    slot: int | None = None  # token for the court: index into the draft, -1 the closing one
    title: str = ""  # one line
    note: str = ""  # what to say: captions, slides
    pause: bool = True  # a replay holds here
    removed: bool = False  # the marker of this id is no more


class SessionNote(Frozen, frozen=True, tag="session_note"):
    """What a whole run is to be called and what is to be said of it; the last one holds."""

    run: str
    title: str = ""  # one line
    note: str = ""


def markers_of(events: Iterable[object], run: str | None = None) -> tuple[Marker, ...]:
    """Return the markers that hold, in the order of their moments.

    Parameters
    ----------
    events
        Any events in order; what is no marker means nothing.
    run
        Of this run only.
    """
    held: dict[tuple[str, str], Marker] = {}
    for event in events:
        if isinstance(event, Marker) and run in (None, event.run):
            held[event.run, event.id] = event
    kept = [marker for marker in held.values() if not marker.removed]
    return tuple(sorted(kept, key=moment_of))


def moment_of(marker: Marker) -> tuple[int, int, str]:
    """Return what markers are sorted by: round, phase, then id."""
    return marker.round, PHASES.index(marker.phase), marker.id


def fresh_id(markers: Iterable[Marker]) -> str:
    """Return an id that none of these has: m1, m2 and so on."""
    taken = {marker.id for marker in markers}
    number = 1
    while f"m{number}" in taken:
        number += 1
    return f"m{number}"
