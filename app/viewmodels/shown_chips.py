"""The chips of all tokens that are shown, each made when it is looked at.

Knows where each round's chips begin, and makes them from a round's tokens. Does not know how far
the picture is (`strip` does). Knows no pixel, no font and no colour.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from app.viewmodels.characters import decode_piece
from app.viewmodels.chips import Chip, Cut, make_chip
from app.viewmodels.kept import Kept
from app.viewmodels.portion import CODES, FIRST_CLOSING, WORDS
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from engine.trace.events import Fate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Cursor
    from app.viewmodels.stop_cut import StopCut

KEPT_ROUNDS = 512  # whose chips are held
_ACCEPTED = CODES[Fate.ACCEPTED]


class ShownChips(Kept[Chip]):
    """Chips of the prompt, of finished rounds, and of the round that is being shown.

    Attributes
    ----------
    finished
        How many rounds are shown whole.
    moving
        Chips of the round after these, as far as it is shown.
    show_drafts
        Whether rejected, discarded and cut tokens of finished rounds are among them.
    whole
        Long tokens of which all is drawn.
    cut
        Where a stop string cuts the text, if that is shown.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.show_drafts = True
        self.whole: set[TokenRef] = set()
        self.cut: StopCut | None = None
        self.forget()

    def forget(self) -> None:
        """Show nothing."""
        self.finished = 0
        self.moving: list[Chip] = []
        self.prompt: list[Chip] = []
        self._made: OrderedDict[int, list[Chip]] = OrderedDict()
        self._at = (0, 0, self.moving)  # where the round that was looked at last begins and ends

    def drop(self, first_round: int) -> None:
        """Let the chips of this round and of those after it be made again."""
        if first_round == PROMPT_ROUND:
            self.make_prompt()
        for index in [index for index in self._made if index >= first_round]:
            del self._made[index]
        self._at = (0, 0, self.moving)

    def make_prompt(self) -> None:
        """Make the chips of the prompt."""
        self.prompt = []
        carry = b""
        started = self._document.started
        for slot, token in enumerate(started.prompt_tokens if started else ()):
            ref = TokenRef(PROMPT_ROUND, slot)
            chip, carry = self._chip(ref, "prompt", token.piece, carry, False)
            self.prompt.append(chip)

    def show(self, finished: int, moving: list[Chip]) -> None:
        """Show so many rounds whole, and of the next one these chips."""
        self.finished, self.moving = finished, moving
        self._at = (0, 0, moving)

    def _starts(self) -> Sequence[float]:
        """Return where each round's chips begin, counted from the end of the prompt."""
        document = self._document
        starts: npt.NDArray[Any] = document.tokens.starts
        return starts if self.show_drafts else document.columns.sums("emitted")  # type: ignore[return-value]  # arrays have what is used of sequences

    def start_of(self, index: int) -> int:
        """Return where the chips of a round begin; of a round that is gone, where all end."""
        starts = self._starts()
        return len(self.prompt) + int(starts[min(index, len(starts) - 1)])

    def __len__(self) -> int:
        return self.start_of(self.finished) + len(self.moving)

    def __iter__(self) -> Iterator[Chip]:
        rounds = (self.of_round(index) for index in range(self.finished))
        return chain(self.prompt, chain.from_iterable(rounds), self.moving)

    def _one(self, index: int) -> Chip:
        begin, end, chips = self._at
        if not begin <= index < end:
            if index < len(self.prompt):
                return self.prompt[index]
            if index >= (begin := self.start_of(self.finished)):
                return self.moving[index - begin]
            found = self._round_at(index)
            begin, chips = self.start_of(found), self.of_round(found)
            self._at = (begin, begin + len(chips), chips)
        return chips[index - begin]

    def _many(self, wanted: range) -> list[Chip]:
        if wanted.step != 1 or not wanted:
            return super()._many(wanted)
        first, prompt, settled = wanted.start, len(self.prompt), self.start_of(self.finished)
        found = self.prompt[first : wanted.stop]
        at = max(first, prompt)
        index = self._round_at(at) if at < min(wanted.stop, settled) else self.finished
        skipped = at - self.start_of(index)
        chips: list[Chip] = []
        while index < self.finished and len(chips) - skipped < wanted.stop - at:
            chips += self.of_round(index)
            index += 1
        if index == self.finished:
            chips += self.moving
        return found + chips[skipped : skipped + wanted.stop - at]

    def _round_at(self, index: int) -> int:
        """Return the round of a chip, which is one of a finished round."""
        # Not numpy's own search: it copies what may not be written.
        return bisect_right(self._starts(), index - len(self.prompt)) - 1

    def of_round(self, index: int) -> list[Chip]:
        """Return the chips of a finished round."""
        chips = self._made.get(index)
        if chips is None:
            chips = self._made[index] = self.make(index, None)
            if len(self._made) > KEPT_ROUNDS:
                self._made.popitem(last=False)
        return chips

    def make(self, index: int, cursor: Cursor | None) -> list[Chip]:
        """Make a round's chips as they are shown at a cursor; no cursor: a finished round."""
        chips: list[Chip] = []
        codes, pieces, carry = self._document.tokens.row(index)
        kept = carry
        for slot, (code, piece) in enumerate(zip(codes, pieces, strict=True)):
            if code >= FIRST_CLOSING:
                if cursor is None:
                    ref = TokenRef(index, CLOSING_SLOT)
                    chips.append(self._chip(ref, WORDS[code], piece, kept, not chips)[0])
                continue
            fate = _shown_fate(slot, WORDS[code], cursor)
            if fate is None:
                break
            ref = TokenRef(index, slot)
            chip, carry = self._chip(ref, fate, piece, carry, not chips)
            if cursor is not None or self.show_drafts or code == _ACCEPTED:
                chips.append(chip)
            if code == _ACCEPTED:
                kept = carry
        return chips

    def _chip(
        self, ref: TokenRef, fate: str, piece: bytes, carry: bytes, starts: bool
    ) -> tuple[Chip, bytes]:
        """Return a token's chip and the character begun after it."""
        decoded = decode_piece(carry, piece)
        cut = None
        if self.cut is not None and ref in self.cut.kept:
            kept = decode_piece(carry, piece[: self.cut.kept[ref]]).text
            cut = Cut(len(kept), ref == next(iter(self.cut.kept)))
        whole = ref in self.whole
        chip = make_chip(ref, fate, decoded, bool(carry), starts, cut=cut, whole=whole)
        return chip, decoded.carry

    def index_of(self, ref: TokenRef) -> int | None:
        """Return where a token stands, or None if it is not shown."""
        if ref.in_prompt:
            return ref.slot if 0 <= ref.slot < len(self.prompt) else None
        if not 0 <= ref.round <= self.finished:
            return None
        chips = self.moving if ref.round == self.finished else self.of_round(ref.round)
        place = next((place for place, chip in enumerate(chips) if chip.ref == ref), None)
        return None if place is None else self.start_of(ref.round) + place

    def line_ends(self, first: int, last: int) -> Sequence[int]:
        """Return one past each of the chips first to last - 1 that ends a line.

        Of the round that is being shown there is none, nor past a stop string.
        """
        prompt = len(self.prompt)
        ends = [i + 1 for i in range(first, min(last, prompt)) if self.prompt[i].text[-1:] == "\n"]
        end = self.finished
        if self.cut is not None:
            end = min(end, max(0, min(ref.round for ref in self.cut.kept)))
        last = min(last, self.start_of(end))
        first = max(first, prompt)
        if first >= last:
            return ends
        begin = self._round_at(first)
        emitted, ending = self._document.tokens.line_ends(begin, self._round_at(last - 1) + 1)
        places = np.flatnonzero(emitted & ending)
        if not self.show_drafts:
            places = np.cumsum(emitted)[places] - 1
        places += self.start_of(begin) + 1
        return [*ends, *places[(places > first) & (places <= last)].tolist()]


def _shown_fate(slot: int, fate: str, cursor: Cursor | None) -> str | None:
    """Return what a drafted token is shown as at the cursor; None if it has not appeared."""
    if cursor is None:
        return fate
    if cursor.phase == "draft":
        return "pending" if slot < cursor.revealed else None
    return fate if slot < cursor.revealed else "pending"
