"""Rounds and tokens as a replay page holds them: what a chip says, its numbers, its verdict.

Knows one round at a time. Knows no HTML and no colour; words and chips are the window's own
(`app.viewmodels`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.export.laws import SHORT, Labels, PageLaws, page_laws, short
from app.export.words import round_words
from app.viewmodels.characters import written
from app.viewmodels.chips import SHOWN_CHARACTERS
from app.viewmodels.copied import copied
from app.viewmodels.draft_ends import short_sentence, why_short
from app.viewmodels.meanings import MEANINGS
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from app.viewmodels.settings_words import settings_words
from app.viewmodels.sides import drafter_greedy, target_greedy
from app.viewmodels.strip import StripModel
from app.viewmodels.verdict_words import closing_words, drafted_words, one_hot_words
from engine.trace.events import ClosingKind, ClosingToken, Fate, Round

if TYPE_CHECKING:
    from app.viewmodels.chips import Chip
    from app.viewmodels.document import Document
    from engine.trace.events import DraftedToken

_TAIL = 40  # characters kept at the end of a chip that is too long
GIVEN = f"{MEANINGS['prompt']} No verdict fell on it."


class PageToken(msgspec.Struct, frozen=True, omit_defaults=True, rename=SHORT):
    """One token: what its chip says and its numbers."""

    t: str  # its characters
    n: int  # label in tables
    id: int
    f: str  # fate, or the closing token's kind; "prompt"
    w: str  # the verdict in words
    o: str = ""  # why `q_draft` is one-hot
    h: str = ""  # bytes that make no character yet
    x: str = ""  # what lies beyond the stop string that cut the text
    e: bool = False  # it is cut in this token or right before it
    s: str = ""  # a character is shared with the token "before", "after" or "both"
    q_draft: float | None = None
    p_target: float | None = None  # of a closing token, its probability where it was drawn
    a: float | None = None  # min(1, p_target / q_draft)
    u: float | None = None
    laws: PageLaws | None = None  # a correction's are those of the rejected token


class PageRound(msgspec.Struct, frozen=True, omit_defaults=True):
    """One round: drafted tokens and the one that closes it."""

    d: tuple[PageToken, ...]
    c: PageToken | None
    w: str  # what happened, in words
    set: int  # settings in force, and the drafter
    changed: bool = False  # they hold from this round on
    greedy: bool = False
    m: tuple[tuple[int, int], ...] = ()  # round and slot of each token that was copied


class PageTokens:
    """Turns rounds into records, in order; labels and settings are kept once.

    Attributes
    ----------
    fates
        Those that occurred so far.
    settings, drafters
        In words, each pair once: what held in a round, and whose draft it was; "" is nobody's.
    pieces
        Bytes of ids, of those that were asked for and met so far.
    """

    def __init__(self, document: Document, rounds: int, wanted: frozenset[int]) -> None:
        self._document = document
        presentation = Presentation(document)
        presentation.seek(rounds - 1)
        strip = StripModel(document, presentation)
        strip.refresh()
        self._chips = strip.chips
        self._wanted = set(wanted)
        self._last_set = -1
        self.labels = Labels()
        self._held: dict[tuple[str, str], int] = {}
        self.fates: set[str] = set()
        self.pieces: dict[int, bytes] = {}

    @property
    def settings(self) -> tuple[str, ...]:
        """What held in rounds so far."""
        return tuple(words for words, _ in self._held)

    @property
    def drafters(self) -> tuple[str, ...]:
        """Who drafted under each of `settings`."""
        return tuple(drafter for _, drafter in self._held)

    def prompt(self) -> tuple[PageToken, ...]:
        """Return the tokens that the target was given."""
        started = self._document.started
        tokens = started.prompt_tokens if started else ()
        return tuple(
            PageToken(
                t=_chip_text(chip),
                n=self.labels.index(token.piece),
                id=token.id,
                f="prompt",
                w=GIVEN,
                h=_chip_bytes(chip),
                s=_shared(chip),
            )
            for chip, token in zip(self._chips.prompt, tokens, strict=True)
        )

    def round(self, one: Round) -> PageRound:
        """Return the record of the next round."""
        settings = self._document.settings_at(one.index)
        greedy = target_greedy(settings)
        words = settings_words(settings, one.k) if settings is not None else ""
        drafter = self._document.drafter_at(one.index)
        held = (words, drafter.name if drafter is not None else "")
        number = self._held.setdefault(held, len(self._held))
        changed = self._last_set not in (-1, number)
        self._last_set = number
        chips = {chip.ref: chip for chip in self._chips.of_round(one.index)}
        drafted = tuple(
            self._drafted(one, slot, chips[TokenRef(one.index, slot)], greedy)
            for slot in range(len(one.drafted))
        )
        closing = None
        if one.closing is not None:
            chip = chips[TokenRef(one.index, CLOSING_SLOT)]
            closing = self._closing(one, one.closing, chip, greedy)
        self._look_at(one)
        return PageRound(
            d=drafted,
            c=closing,
            w=round_words(one),
            set=number,
            changed=changed,
            greedy=greedy,
            m=self._copied(one),
        )

    def _look_at(self, one: Round) -> None:
        self.fates |= {str(token.fate) for token in one.drafted}
        closing = () if one.closing is None else (one.closing,)
        self.fates |= {str(token.kind) for token in closing}
        for token in (*one.drafted, *closing):
            pairs = [(token.id, token.piece)]
            if token.laws is not None:
                pairs += zip(token.laws.ids, token.laws.pieces, strict=True)
            for number, piece in pairs:
                if number in self._wanted:
                    self._wanted.remove(number)
                    self.pieces[number] = piece

    def _copied(self, one: Round) -> tuple[tuple[int, int], ...]:
        if one.match is None or not one.drafted:
            return ()
        found = copied(self._document, TokenRef(one.index, 0))
        return () if found is None else tuple((ref.round, ref.slot) for ref in found.sources)

    def _drafted(self, one: Round, slot: int, chip: Chip, greedy: bool) -> PageToken:
        token: DraftedToken = one.drafted[slot]
        keep = [token.id]
        if token.fate is Fate.REJECTED and one.closing is not None:
            keep.append(one.closing.id)
        return PageToken(
            t=_chip_text(chip),
            n=self.labels.index(token.piece),
            id=token.id,
            f=str(token.fate),
            w=drafted_words(one, slot, greedy=greedy),
            o=one_hot_words(
                one, token, greedy=drafter_greedy(self._document.settings_at(one.index))
            ),
            h=_chip_bytes(chip),
            x=_chip_beyond(chip),
            e=chip.cut is not None and chip.cut.first,
            s=_shared(chip),
            q_draft=short(token.q_draft),
            p_target=None if token.p_target is None else short(token.p_target),
            a=None if token.acceptance_probability is None else short(token.acceptance_probability),
            u=None if token.u is None else short(token.u),
            laws=None if token.laws is None else page_laws(token.laws, keep, self.labels),
        )

    def _closing(self, one: Round, token: ClosingToken, chip: Chip, greedy: bool) -> PageToken:
        own = token.laws if token.kind is not ClosingKind.CORRECTION else None
        why = why_short(self._document, one)
        words = closing_words(one, greedy=greedy, short=why), short_sentence(one, why)
        return PageToken(
            t=_chip_text(chip),
            n=self.labels.index(token.piece),
            id=token.id,
            f=str(token.kind),
            w=" ".join(filter(None, words)),
            h=_chip_bytes(chip),
            x=_chip_beyond(chip),
            e=chip.cut is not None and chip.cut.first,
            s=_shared(chip),
            p_target=short(token.probability),
            u=None if token.u is None else short(token.u),
            laws=None if own is None else page_laws(own, [token.id], self.labels),
        )


def _chip_text(chip: Chip) -> str:
    kept = chip.text if chip.cut is None else chip.text[: chip.cut.kept]
    text = written(kept.replace("\r\n", "\n"))
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[: SHOWN_CHARACTERS - _TAIL]}…{text[-_TAIL:]}"


def _chip_beyond(chip: Chip) -> str:
    return "".join(one.text for one in chip.fragments if one.kind == "beyond")


def _chip_bytes(chip: Chip) -> str:
    last = chip.fragments[-1]
    begun = last.kind == "bytes" and (chip.shares_after or not chip.text)
    return last.text if begun else ""


def _shared(chip: Chip) -> str:
    if chip.shares_before and chip.shares_after:
        return "both"
    return "before" if chip.shares_before else "after" if chip.shares_after else ""
