"""What happened, in sentences: a round, an end, a marker's place. Verdicts are the viewmodels' own.

Knows the glossary. Knows no HTML and computes no figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.viewmodels.draft_ends import short_label
from app.viewmodels.endings import ending
from app.viewmodels.refs import CLOSING_SLOT
from engine.trace.events import ClosingKind

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from engine.trace.events import Round
    from engine.trace.markers import Marker


def round_words(one: Round) -> str:
    """Return what a round came to, and why few were drafted: "3 of 4 accepted, then a bonus"."""
    short = f" ({short_label(one)})" if one.draft_end is not None else ""
    if one.closing is not None and one.closing.kind is ClosingKind.PLAIN:
        return f"nothing drafted{short}: a plain token"
    accepted = f"{one.accepted} of {len(one.drafted)} accepted"
    if one.closing is None:
        return f"{accepted}, then the run ended{short}"
    return f"{accepted}, then a {one.closing.kind}{short}"


def place_words(marker: Marker) -> str:
    """Return where a marker stands: "round 12, verify, token 3"; "" before the first round."""
    if marker.round < 0:
        return ""
    phase = "" if marker.phase == "done" else f", {marker.phase}"
    token = "" if marker.slot is None else f", token {marker.slot + 1}"
    if marker.slot == CLOSING_SLOT:
        token = ", closing token"
    return f"round {marker.round + 1}{phase}{token}"


def ending_words(document: Document) -> str:
    """Return how the run ended and whether its text is the plain target's; empty if unknown."""
    parts: list[str] = []
    if document.finished is not None:
        parts.append(ending(document))
        if document.finished.message:
            parts.append(document.finished.message)
    comparison = document.comparison
    if comparison is not None and comparison.identical:
        parts.append("Token for token the same as the plain target's text.")
    elif comparison is not None and comparison.first_difference is not None:
        found = comparison.first_difference
        why = (
            "a tie within the kernels' measured difference"
            if found.kind == "tie"
            else "a fault of the engine"
        )
        parts.append(
            f"The plain target's text differs first at emitted token {found.position + 1}: {why}."
        )
    return " ".join(parts)
