"""Which tokens the strip shows, in order, each with its fate at this moment of the presentation.

Knows what of a round is visible at the cursor, and which chips changed since the last look, so that
a layout has to touch only those. Knows no pixel, no font and no colour.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import Chip, Cut, make_chip
from app.viewmodels.endings import ending
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from app.viewmodels.stop_cut import StopCut, stop_cut
from engine.trace.events import Fate, FinishReason

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Cursor, Presentation
    from engine.trace.events import Round, RunFinished

EMPTY_NOTICE = "Nothing to show yet: type a prompt and run it, or open a saved session."


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
        self._whole: set[TokenRef] = set()  # long tokens of which all is shown
        self._cut: StopCut | None = None  # as it is shown
        self._cut_known: tuple[RunFinished | None, StopCut | None] = (None, None)
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
            if seen[0] != self._seen[0]:
                self._whole.clear()
            self._seen = seen
            self.chips.clear()
            self._forget()
        self._show_cut()
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

    def _show_cut(self) -> None:
        """Mark where a stop string cut the text, once all of it is shown."""
        cut = self._found_cut() if self._presentation.at_end else None
        if cut is not self._cut:
            changed = [ref.round for one in (cut, self._cut) if one for ref in one.kept]
            self._cut = cut
            self._make_again(min(changed))

    def _found_cut(self) -> StopCut | None:
        end = self._document.finished
        if end is not self._cut_known[0]:
            self._cut_known = (end, stop_cut(self._document))
        return self._cut_known[1]

    def _make_again(self, first_round: int) -> None:
        """Let the next refresh make the chips of this round and of those after it again."""
        if first_round == PROMPT_ROUND:
            self.chips.clear()
            self._forget()
        elif first_round < len(self._starts):
            self._settled = self._starts[first_round]
            del self._starts[first_round:]
            del self._carries[first_round + 1 :]

    def toggle_whole(self, ref: TokenRef) -> bool:
        """Show all of a long token, or its ends again; return whether it is a long one."""
        index = self.index_of(ref)
        if index is None or not (ref in self._whole or self.chips[index].elided):
            return False
        self._whole ^= {ref}
        self._make_again(ref.round)
        return True

    def _chip(
        self, ref: TokenRef, fate: str, piece: bytes, carry: bytes, starts: bool
    ) -> tuple[Chip, bytes]:
        """Return a token's chip and the character begun after it."""
        decoded = decode_piece(carry, piece)
        cut = None
        if self._cut is not None and ref in self._cut.kept:
            kept = decode_piece(carry, piece[: self._cut.kept[ref]]).text
            cut = Cut(len(kept), ref == next(iter(self._cut.kept)))
        whole = ref in self._whole
        chip = make_chip(ref, fate, decoded, bool(carry), starts, cut=cut, whole=whole)
        return chip, decoded.carry

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
            ref = TokenRef(PROMPT_ROUND, slot)
            chip, carry = self._chip(ref, "prompt", token.piece, carry, False)
            self.chips.append(chip)
        self._carries = [carry]

    def _round_chips(self, one: Round, cursor: Cursor | None) -> tuple[list[Chip], bytes]:
        """Return a round's chips and the character begun after it; no cursor: a finished round."""
        chips: list[Chip] = []
        kept = carry = self._carries[one.index]
        for slot, token in enumerate(one.drafted):
            fate = _shown_fate(slot, token.fate, cursor)
            if fate is None:
                break
            ref = TokenRef(one.index, slot)
            chip, carry = self._chip(ref, fate, token.piece, carry, not chips)
            if cursor is not None or self._show_drafts or token.fate is Fate.ACCEPTED:
                chips.append(chip)
            if token.fate is Fate.ACCEPTED:
                kept = carry
        if cursor is None and one.closing is not None:
            ref = TokenRef(one.index, CLOSING_SLOT)
            kind = str(one.closing.kind)
            chip, kept = self._chip(ref, kind, one.closing.piece, kept, not chips)
            chips.append(chip)
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
        return ending(self._document)


def _shown_fate(slot: int, fate: Fate, cursor: Cursor | None) -> str | None:
    """Return what a drafted token is shown as at the cursor; None if it has not appeared."""
    if cursor is None:
        return str(fate)
    if cursor.phase == "draft":
        return "pending" if slot < cursor.revealed else None
    return str(fate) if slot < cursor.revealed else "pending"
