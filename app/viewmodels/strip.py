"""Which tokens the strip shows, in order, each with its fate at this moment of the presentation.

Knows what of a round is visible at the cursor, and which chips changed since the last look, so that
a layout has to touch only those. Knows no pixel, no font and no colour.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from app.viewmodels.copied import Copied, copied
from app.viewmodels.endings import ending
from app.viewmodels.imported import no_tokens_words, shown_text
from app.viewmodels.refs import PROMPT_ROUND, TokenRef
from app.viewmodels.shown_chips import ShownChips
from app.viewmodels.stop_cut import StopCut, stop_cut
from engine.errors import DraftscopeError
from engine.trace.events import FinishReason

if TYPE_CHECKING:
    from app.viewmodels.chips import Chip
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation
    from engine.trace.events import RunFinished

EMPTY_NOTICE = "Nothing to show yet: type a prompt and run it, or open a saved session."


class StripModel:
    """The chips of a document as far as the presentation has come.

    Chips of finished rounds never change; those of the round being shown are made again at each
    step. All are made when they are looked at: following a run and scrubbing cost the chips in
    sight alone.

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
        self._seen: tuple[str | None, bool, bool] = (None, True, False)
        self._cut_known: tuple[RunFinished | None, StopCut | None] = (None, None)
        self._stale: tuple[int, list[Chip]] | None = None  # a round to be made again, as it was
        self.chips = ShownChips(document)

    @property
    def show_drafts(self) -> bool:
        """Whether rejected, discarded and cut tokens of finished rounds stay in place."""
        return self._show_drafts

    @show_drafts.setter
    def show_drafts(self, show: bool) -> None:
        self._show_drafts = show

    def refresh(self) -> int:
        """Follow the cursor; return the index of the first chip that changed.

        Equal to `len(chips)` if none did.
        """
        chips, document = self.chips, self._document
        seen = (document.run, self._show_drafts, document.started is not None)
        anew = seen != self._seen
        if anew:
            if seen[0] != self._seen[0]:
                chips.whole.clear()
            self._seen, self._stale = seen, None
            chips.forget()
            chips.show_drafts = self._show_drafts
        self._show_cut()
        if anew:
            chips.make_prompt()
        before, moving = chips.finished, chips.moving
        finished = self._presentation.visible_rounds()
        cursor = self._presentation.cursor
        shown: list[Chip] = []
        if cursor.phase != "done" and cursor.round < len(document.rounds):
            shown = chips.make(cursor.round, cursor)
        old = chips.of_round(finished) if finished < before else moving
        first = chips.start_of(min(before, finished))
        chips.show(finished, shown)
        if anew:
            return 0
        if self._stale is not None and self._stale[0] < min(before, finished):
            index, old = self._stale
            first = 0 if index == PROMPT_ROUND else chips.start_of(index)
        self._stale = None
        for chip in old:
            if first >= len(chips) or chips[first] != chip:
                return first
            first += 1
        return first

    def _show_cut(self) -> None:
        """Mark where a stop string cut the text, once all of it is shown."""
        cut = self._found_cut() if self._presentation.at_end else None
        if cut is not self.chips.cut:
            changed = [ref.round for one in (cut, self.chips.cut) if one for ref in one.kept]
            self._make_again(min(changed))
            self.chips.cut = cut
            self.chips.drop(min(changed))

    def _found_cut(self) -> StopCut | None:
        end = self._document.finished
        if end is not self._cut_known[0]:
            self._cut_known = (end, None)
            with suppress(DraftscopeError):  # where the last rounds cannot be read, all is shown
                self._cut_known = (end, stop_cut(self._document))
        return self._cut_known[1]

    def _make_again(self, first_round: int) -> None:
        """Let the next refresh compare the chips of this round and of those after it again."""
        if first_round < self.chips.finished and (
            self._stale is None or first_round < self._stale[0]
        ):
            of_prompt = first_round == PROMPT_ROUND
            old = self.chips.prompt if of_prompt else self.chips.of_round(first_round)
            self._stale = (first_round, old)

    def toggle_whole(self, ref: TokenRef) -> bool:
        """Show all of a long token, or its ends again; return whether it is a long one."""
        index = self.index_of(ref)
        if index is None or not (ref in self.chips.whole or self.chips[index].elided):
            return False
        self._make_again(ref.round)
        self.chips.whole ^= {ref}
        self.chips.drop(ref.round)
        return True

    def index_of(self, ref: TokenRef) -> int | None:
        """Return where a token stands among the chips, or None if it is not shown."""
        return self.chips.index_of(ref)

    def text(self) -> str:
        """Return the text emitted by the rounds that are fully shown, in logical order."""
        if self._document.imported is not None:
            return self._document.imported.text
        text = self._document.tokens.text(self._presentation.visible_rounds())
        end = self._document.finished
        return text + end.tail if end is not None and self._presentation.at_end else text

    def source(self, ref: TokenRef) -> TokenRef | None:
        """Return the token that an n-gram drafter copied a drafted token from."""
        copy = self.copied(ref)
        return None if copy is None else dict(zip(copy.drafted, copy.sources, strict=True)).get(ref)

    def copied(self, ref: TokenRef) -> Copied | None:
        """Return what the round of a token was copied from, if an n-gram drafter copied it."""
        return copied(self._document, ref)

    @property
    def plain_text(self) -> str:
        """The text that another program gave without its tokens, or ""."""
        return shown_text(self._document.imported)

    @property
    def notice(self) -> str:
        """A sentence to show below the text, or "": nothing run yet, or how the run ended."""
        if self._document.run is None:
            return EMPTY_NOTICE
        if self._document.imported is not None:
            told = no_tokens_words(self._document.imported)
            return " ".join(filter(None, (told, ending(self._document))))
        end = self._document.finished
        if end is None or not self._presentation.at_end:
            return ""
        if end.reason is FinishReason.ERROR and end.message:
            return end.message
        return ending(self._document)
