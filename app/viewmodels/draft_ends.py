"""Why fewer than k tokens were drafted, in words: of one round, and of a run so far.

Knows rounds and what is recorded with them. Knows no widget, no figure and no terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.viewmodels.numbers import count
from engine.trace.events import DraftEnd, Round, RunStarted, SettingsChanged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.viewmodels.document import Document
    from engine.trace.events import Event, ModelInfo

_LABELS = {
    DraftEnd.LIMIT: "limit",
    DraftEnd.UNSURE: "unsure",
    DraftEnd.NO_MATCH: "no match",
    DraftEnd.CONTEXT: "the drafter's context ends",
    DraftEnd.TOO_SHORT: "too short a text",
}
_COUNTED = {
    DraftEnd.UNSURE: "unsure",
    DraftEnd.NO_MATCH: "without a match",
    DraftEnd.LIMIT: "at the limit",
    DraftEnd.CONTEXT: "at the end of the drafter's context",
    DraftEnd.TOO_SHORT: "after too short a text",
}


def short_label(one: Round) -> str:
    """Say in a few words why a round's draft was short: "2 of 4 drafted: unsure"; "" if it was not.

    Where nothing was drafted, the reason alone.
    """
    if one.draft_end is None:
        return ""
    label = _LABELS[one.draft_end]
    return f"{len(one.drafted)} of {one.k} drafted: {label}" if one.drafted else label


def short_clause(one: Round, drafter: ModelInfo | None = None, confidence: float = 0.0) -> str:
    """Say in a clause why a round's draft was short, or "".

    Parameters
    ----------
    drafter
        The one of this round, for the length of its context.
    confidence
        As it was set in this round.
    """
    match one.draft_end:
        case DraftEnd.LIMIT:
            return "the limit leaves room for no more"
        case DraftEnd.UNSURE:
            least = f" ({confidence:g})" if confidence else ""
            return f"the drafter's largest probability fell below the confidence asked for{least}"
        case DraftEnd.NO_MATCH:
            return f"the look-up found nothing{' further' if one.drafted else ''}"
        case DraftEnd.CONTEXT:
            context = _context(0 if drafter is None else drafter.context_length)
            return f"the text has reached the end of {context}"
        case DraftEnd.TOO_SHORT:
            return "the drafter needs two tokens of text to read"
    return ""


def why_short(document: Document, one: Round) -> str:
    """Say in a clause why a document's round drafted fewer than k tokens, or ""."""
    if one.draft_end is None:
        return ""
    settings = document.settings_at(one.index)
    confidence = 0.0 if settings is None else settings.confidence
    return short_clause(one, document.drafter_at(one.index), confidence)


def short_sentence(one: Round, why: str) -> str:
    """Say how much of a draft there is and why no more; "" where it is whole or nothing at all."""
    return f"{len(one.drafted)} of {one.k} drafted: {why}." if why and one.drafted else ""


def exhausted(one: Round) -> bool:
    """Whether nothing was drafted because the text is longer than the drafter's context."""
    return one.draft_end is DraftEnd.CONTEXT and not one.drafted


@dataclass(frozen=True)
class ShortDrafts:
    """The short drafts of a run so far.

    Attributes
    ----------
    rounds
        Of all kinds.
    ends
        Rounds by why their draft was short; reasons that did not occur are 0 or left out.
    exhausted
        Rounds in which nothing was drafted past the drafter's context.
    first_exhausted
        Index of the first of them, or None.
    resumed
        Whether anything was drafted after it.
    context_length
        Of the drafter that it happened to; 0 if unknown.
    """

    rounds: int = 0
    ends: Mapping[DraftEnd, int] = field(default_factory=dict)
    exhausted: int = 0
    first_exhausted: int | None = None
    resumed: bool = False
    context_length: int = 0

    def warning(self) -> str:
        """Say that the drafter's own context was exhausted, or ""."""
        if self.first_exhausted is None:
            return ""
        where = f"From round {self.first_exhausted + 1} on"
        if self.resumed:
            where = f"In {count(self.exhausted, 'round')}"
        return (
            f"{where} nothing was drafted: the text is longer than {_context(self.context_length)}."
        )

    def words(self) -> str:
        """Count them by their reason: "12 of 40 rounds: 11 unsure, 1 at the limit"; "" if none."""
        parts = [f"{self.ends[end]} {word}" for end, word in _COUNTED.items() if self.ends.get(end)]
        if not parts:
            return ""
        return f"{sum(self.ends.values())} of {count(self.rounds, 'round')}: {', '.join(parts)}"


def _context(length: int) -> str:
    """Name the drafter's context, with its length where that is known."""
    return f"the drafter's context of {length} tokens" if length else "the drafter's context"


class ShortDraftCount:
    """Counts short drafts, one event at a time."""

    def __init__(self) -> None:
        self._ends = dict.fromkeys(DraftEnd, 0)
        self._rounds = 0
        self._exhausted = 0
        self._first: int | None = None
        self._resumed = False
        self._context = 0  # of the drafter in use
        self._spec = ""
        self._exhausted_context = 0

    def add(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case RunStarted():
                self._take(event.settings.drafter, event.drafter)
            case SettingsChanged() if event.settings.drafter != self._spec:
                self._take(event.settings.drafter, event.drafter)
            case Round():
                self._rounds += 1
                if event.draft_end is not None:
                    self._ends[event.draft_end] += 1
                if exhausted(event):
                    self._exhausted += 1
                    self._exhausted_context = self._context
                    if self._first is None:
                        self._first = event.index
                self._resumed = self._resumed or bool(event.drafted and self._first is not None)

    def _take(self, spec: str, drafter: ModelInfo | None) -> None:
        self._spec = spec
        self._context = 0 if drafter is None else drafter.context_length

    @property
    def so_far(self) -> ShortDrafts:
        """What was counted."""
        return ShortDrafts(
            rounds=self._rounds,
            ends=dict(self._ends),
            exhausted=self._exhausted,
            first_exhausted=self._first,
            resumed=self._resumed,
            context_length=self._exhausted_context,
        )
