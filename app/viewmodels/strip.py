"""Which tokens the strip shows, in order, each with its fate at this moment of the presentation.

Knows what of a round is visible at the cursor, and which chips changed since the last look, so that
a layout has to touch only those. Knows no pixel, no font and no colour.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import Chip, make_chip
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from engine.trace.events import Fate, FinishReason

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Cursor, Presentation
    from engine.trace.events import Round

EMPTY_NOTICE = "Nothing to show yet: type a prompt and run it, or open a saved session."

_ENDINGS = {
    FinishReason.END_TOKEN: "The run ended at an end token.",
    FinishReason.STOP_STRING: "The run ended at a stop string: the text is cut there.",
    FinishReason.LIMIT: "The run ended at its limit of new tokens.",
    FinishReason.CONTEXT: "The run ended where the model's context is full.",
    FinishReason.CANCELLED: "The run was stopped.",
    FinishReason.ERROR: "The run ended with an error.",
}


class StripModel:
    """The chips of a document as far as the presentation has come.

    Chips of finished rounds never change; those of the round being shown are made again at each
    step. So following a run costs the new chips alone, and scrubbing what it passes over.

    Attributes
    ----------
    chips
        What is shown, in logical order: drafted tokens in place, before the token that closes
        their round.
    """

    def __init__(self, document: Document, presentation: Presentation) -> None:
        self._document = document
        self._presentation = presentation
        self._show_drafts = True
        self._seen: tuple[str | None, bool] = (None, True)
        self.chips: list[Chip] = []
        self._forget()

    @property
    def show_drafts(self) -> bool:
        """Whether rejected, discarded and cut tokens of finished rounds stay in place."""
        return self._show_drafts

    @show_drafts.setter
    def show_drafts(self, show: bool) -> None:
        self._show_drafts = show

    def _forget(self) -> None:
        self._starts: list[int] = []  # index in `chips` of each finished round
        self._carries: list[bytes] = [b""]  # begun character before each round
        self._settled = 0  # chips of the prompt and of finished rounds
        self._prompted = False

    def refresh(self) -> int:
        """Follow the cursor; return the index of the first chip that changed.

        Equal to `len(chips)` if none did.
        """
        seen = (self._document.run, self._show_drafts)
        if seen != self._seen:
            self._seen = seen
            self.chips.clear()
            self._forget()
        finished = self._presentation.visible_rounds()
        if finished < len(self._starts):
            self._settled = self._starts[finished]
            del self._starts[finished:]
            del self._carries[finished + 1 :]
        first = self._settled
        old = self.chips[first:]
        del self.chips[first:]
        self._settle(finished)
        cursor = self._presentation.cursor
        if cursor.phase != "done" and cursor.round < len(self._document.rounds):
            self.chips += self._round_chips(self._document.rounds[cursor.round], cursor)[0]
        for before, now in zip(old, islice(self.chips, first, None), strict=False):
            if before != now:
                return first
            first += 1
        return first

    def _settle(self, finished: int) -> None:
        if not self._prompted and self._document.started is not None:
            self._prompted = True
            self._add_prompt()
        while len(self._starts) < finished:
            self._starts.append(len(self.chips))
            chips, carry = self._round_chips(self._document.rounds[len(self._starts) - 1], None)
            self._carries.append(carry)
            self.chips += chips
        self._settled = len(self.chips) if self._prompted else 0

    def _add_prompt(self) -> None:
        carry = b""
        started = self._document.started
        for slot, token in enumerate(started.prompt_tokens if started else ()):
            decoded = decode_piece(carry, token.piece)
            ref = TokenRef(PROMPT_ROUND, slot)
            self.chips.append(make_chip(ref, "prompt", decoded, bool(carry), False))
            carry = decoded.carry
        self._carries = [carry]

    def _round_chips(self, one: Round, cursor: Cursor | None) -> tuple[list[Chip], bytes]:
        """Return a round's chips and the character begun after it; no cursor: a finished round."""
        chips: list[Chip] = []
        kept = carry = self._carries[one.index]
        for slot, token in enumerate(one.drafted):
            fate = _shown_fate(slot, token.fate, cursor)
            if fate is None:
                break
            decoded = decode_piece(carry, token.piece)
            if cursor is not None or self._show_drafts or token.fate is Fate.ACCEPTED:
                ref = TokenRef(one.index, slot)
                chips.append(make_chip(ref, fate, decoded, bool(carry), not chips))
            carry = decoded.carry
            if token.fate is Fate.ACCEPTED:
                kept = carry
        if cursor is None and one.closing is not None:
            decoded = decode_piece(kept, one.closing.piece)
            ref = TokenRef(one.index, CLOSING_SLOT)
            kind = str(one.closing.kind)
            chips.append(make_chip(ref, kind, decoded, bool(kept), not chips))
            kept = decoded.carry
        return chips, kept

    def index_of(self, ref: TokenRef) -> int | None:
        """Return where a token stands among the chips, or None if it is not shown."""
        if ref.in_prompt:
            return ref.slot if self._prompted and 0 <= ref.slot < self._prompt_end() else None
        if not 0 <= ref.round <= len(self._starts):
            return None
        start = self._starts[ref.round] if ref.round < len(self._starts) else self._settled
        following = ref.round + 1
        end = self._starts[following] if following < len(self._starts) else len(self.chips)
        for index in range(start, end):
            if self.chips[index].ref == ref:
                return index
        return None

    def _prompt_end(self) -> int:
        started = self._document.started
        return len(started.prompt_tokens) if started else 0

    def text(self) -> str:
        """Return the text emitted by the rounds that are fully shown, in logical order."""
        finished = self._presentation.visible_rounds()
        released = [text for one in self._document.rounds[:finished] for text in one.texts]
        end = self._document.finished
        if end is not None and self._presentation.at_end:
            released.append(end.tail)
        return "".join(released)

    def source(self, ref: TokenRef) -> TokenRef | None:
        """Return the token that an n-gram drafter copied a drafted token from."""
        if ref.in_prompt or ref.is_closing or not 0 <= ref.round < len(self._document.rounds):
            return None
        match = self._document.rounds[ref.round].match
        return None if match is None else self._document.ref_at(match.start + ref.slot)

    @property
    def notice(self) -> str:
        """A sentence to show below the text, or "": nothing run yet, or how the run ended."""
        if self._document.run is None:
            return EMPTY_NOTICE
        end = self._document.finished
        if end is None or not self._presentation.at_end:
            return ""
        if end.reason is FinishReason.ERROR and end.message:
            return end.message
        if end.reason is FinishReason.END_TOKEN and self._ended_at_once():
            return "The run ended at once: its first token was an end token."
        return _ENDINGS[end.reason]

    def _ended_at_once(self) -> bool:
        """Whether the very first emitted token was an end token."""
        rounds, started = self._document.rounds, self._document.started
        emitted = rounds[0].emitted_ids if rounds else ()
        return started is not None and (not emitted or emitted[0] in started.end_tokens)


def _shown_fate(slot: int, fate: Fate, cursor: Cursor | None) -> str | None:
    """Return what a drafted token is shown as at the cursor; None if it has not appeared."""
    if cursor is None:
        return str(fate)
    if cursor.phase == "draft":
        return "pending" if slot < cursor.revealed else None
    return str(fate) if slot < cursor.revealed else "pending"
