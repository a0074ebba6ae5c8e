"""Where the markers of a recorded session stand: rules that find a moment in a run.

Knows a run as a document; knows neither what is said there nor how the run came about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.trace.events import Fate

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.viewmodels.document import Document

Found = tuple[int, str, int | None]  # index of a round, phase, token for the court


def start(document: Document) -> Found:
    """Find the prompt alone."""
    return -1, "done", None


def first_rejection(document: Document) -> Found | None:
    """Find the first verdict against a token after one that was kept, or against any."""
    found = None
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            if token.fate is Fate.REJECTED:
                if slot:
                    return one.index, "verify", slot
                found = found or (one.index, "verify", slot)
    return found


def narrowest(document: Document) -> Found | None:
    """Find the verdict that the draw decided most narrowly."""
    near = [
        (abs(token.u - token.acceptance_probability), one.index, slot)
        for one in document.rounds
        for slot, token in enumerate(one.drafted)
        if token.u is not None and token.acceptance_probability not in (None, 0.0, 1.0)
    ]
    if not near:
        return None
    _, index, slot = min(near)
    return index, "verify", slot


def residual(document: Document) -> Found | None:
    """Find the correction after the narrowest verdict, or after the first rejection."""
    for found in (narrowest(document), first_rejection(document)):
        if found is not None and document.rounds[found[0]].rejected:
            return found[0], "done", -1
    return None


def fullest(document: Document) -> Found | None:
    """Find the first round in which the most tokens were kept."""
    best = max(document.rounds, key=lambda one: (one.accepted, -one.index), default=None)
    return None if best is None else (best.index, "done", -1 if best.closing else None)


def emptiest(document: Document) -> Found | None:
    """Find the first round of which nothing was kept, at the longest draft."""
    for one in document.rounds:
        if one.drafted and not one.accepted:
            return one.index, "done", 0
    return None


def first_match(document: Document) -> Found | None:
    """Find the first draft that was copied from further up and of which something was kept."""
    for one in document.rounds:
        if one.match is not None and one.accepted:
            return one.index, "draft", 0
    return None


def misled(document: Document) -> Found | None:
    """Find the first of the longest drafts that were copied and of which nothing was kept."""
    vain = [one for one in document.rounds if one.match is not None and not one.accepted]
    longest = max(vain, key=lambda one: len(one.drafted), default=None)
    return None if longest is None else (longest.index, "verify", 0)


def change(number: int, document: Document) -> Found | None:
    """Find the round with which the n-th change of settings begins."""
    if number >= len(document.changes):
        return None
    index = document.changes[number].before_round
    return index, "draft" if document.rounds[index].drafted else "done", None


def says(words: str, document: Document) -> Found | None:
    """Find the round in which the text first holds these words."""
    so_far = ""
    for one in document.rounds:
        so_far += "".join(one.texts)
        if words in so_far:
            return one.index, "done", None
    return None


def rejects(text: str, document: Document) -> Found | None:
    """Find the round that rejects this token, with the token that stands in its place."""
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            if token.fate is Fate.REJECTED and token.piece == text.encode():
                return one.index, "done", slot
    return None


def finish(document: Document) -> Found | None:
    """Find the end."""
    return (len(document.rounds) - 1, "done", None) if len(document.rounds) else None


RULES: dict[str, Callable[[Document], Found | None]] = {
    rule.__name__: rule
    for rule in (
        start,
        first_rejection,
        narrowest,
        residual,
        fullest,
        emptiest,
        first_match,
        misled,
        finish,
    )
}


def find(where: str, document: Document) -> Found | None:
    """Find the moment that a marker's `where` names."""
    rule, _, word = where.partition(" ")
    if rule == "change":
        return change(int(word), document)
    if rule in ("says", "rejects"):
        return {"says": says, "rejects": rejects}[rule](word, document)
    return RULES[rule](document)
