"""Moments of a run as people write them: a round, a phase of it, a token, or a marker.

Knows how they are written and which there are. Knows no format.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from app.viewmodels.readings import plural
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Phase, Presentation
    from engine.trace.markers import Marker

_WRITTEN = re.compile(r"(\d{1,9})(?::(draft|verify|done))?(?::(\d{1,9}|closing))?")
HELP = "ROUND[:draft|verify|done][:TOKEN|closing], a marker's id or title, start or end"


class Moment(NamedTuple):
    """The end of a phase of a round, and the token that the court shows then.

    Attributes
    ----------
    round
        Index, from 0; -1 is the prompt alone.
    """

    round: int
    phase: Phase = "done"
    pinned: TokenRef | None = None

    def show(self, presentation: Presentation) -> None:
        """Move a presentation there."""
        presentation.seek(self.round, self.phase)


def moment_of(marker: Marker) -> Moment:
    """Return the moment that a marker stands at."""
    pinned = None if marker.slot is None else TokenRef(marker.round, marker.slot)
    return Moment(marker.round, marker.phase, pinned)


def last_moment(document: Document) -> Moment:
    """Return the moment at which everything is shown."""
    return Moment(len(document.rounds) - 1)


def parse_moment(text: str, document: Document) -> Moment:
    """Return the moment that is meant; rounds and tokens count from 1, as the window counts them.

    Parameters
    ----------
    text
        As `HELP` says; "" is the end.

    Raises
    ------
    DraftscopeError
        If there is no such moment.
    """
    text = text.strip()
    rounds = len(document.rounds)
    if text in ("", "end"):
        return last_moment(document)
    if text == "start" or (text.isdecimal() and not text.strip("0")):
        return Moment(-1)
    for marker in document.markers:
        if text in (marker.id, marker.title):
            _require(marker.round, rounds)
            return moment_of(marker)
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise DraftscopeError(f'"{text}" names no moment: write {HELP}.')
    index = int(found[1]) - 1
    if index < 0:
        raise DraftscopeError(
            f'"{text}" is before the first round, where nothing is drafted: write start.'
        )
    _require(index, rounds)
    phase = _phase(found[2])
    return Moment(index, phase, _pinned(found[3], index, document))


def _require(index: int, rounds: int) -> None:
    if index >= rounds:
        has = plural(rounds, "round")
        raise DraftscopeError(f"Round {index + 1} is not in this run, which has {has}.")


def _phase(written: str | None) -> Phase:
    if written == "draft":
        return "draft"
    return "verify" if written == "verify" else "done"


def _pinned(written: str | None, index: int, document: Document) -> TokenRef | None:
    if written is None:
        return None
    ref = TokenRef(index, CLOSING_SLOT if written == "closing" else int(written) - 1)
    if written == "0" or document.token(ref) is None:
        drafted = plural(len(document.rounds[index].drafted), "drafted token")
        raise DraftscopeError(f"Round {index + 1} has {drafted}, and no token {written}.")
    return ref
