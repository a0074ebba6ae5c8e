"""A trace as the plain records that a replay page holds: tokens, laws, figures, words.

Knows what the page shows and how much of it fits. Knows no HTML and no colour; what a chip says
and when it appears is the window's own (`app.viewmodels`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.export.figures import readings, running_figures
from app.export.header import Header, header
from app.export.laws import SHORT, Labels, PageLaws, page_laws, short
from app.export.portion import first_rounds
from app.export.words import ending_words, round_words
from app.viewmodels.characters import written
from app.viewmodels.chips import SHOWN_CHARACTERS
from app.viewmodels.document import Document
from app.viewmodels.draft_ends import short_sentence, why_short
from app.viewmodels.presentation import CLOSING_S, PENDING_S, REST_S, VERDICT_S, Presentation
from app.viewmodels.refs import TokenRef
from app.viewmodels.settings_words import settings_words
from app.viewmodels.sides import drafter_greedy, target_greedy
from app.viewmodels.strip import StripModel
from app.viewmodels.verdict_words import closing_words, drafted_words, one_hot_words
from engine.errors import DraftscopeError
from engine.trace.events import ClosingKind, ClosingToken, Fate, Round
from engine.trace.text import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.export.portion import Events
    from app.viewmodels.chips import Chip
    from engine.trace.events import DraftedToken
    from engine.trace.figures import Figures


MAX_ROUNDS = 5_000
_TAIL = 40  # characters kept at the end of a chip that is too long


class PageToken(msgspec.Struct, frozen=True, omit_defaults=True, rename=SHORT):
    """One token: what its chip says and its numbers."""

    t: str  # its characters
    n: int  # label in tables
    id: int
    f: str  # fate, or the closing token's kind
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
    set: int  # settings in force
    changed: bool = False  # they hold from this round on
    greedy: bool = False


class Clock(msgspec.Struct, frozen=True):
    """The window's presentation clock, in seconds at speed 1."""

    pending: float = PENDING_S
    verdict: float = VERDICT_S
    closing: float = CLOSING_S
    rest: float = REST_S


class PageReading(msgspec.Struct, frozen=True):
    """What stays of a figure from round to round."""

    name: str
    unit: str
    how: str
    definition: str


class Replay(msgspec.Struct, frozen=True):
    """Everything a page holds. `readings[n]` are text and detail after n rounds."""

    header: Header
    notices: tuple[str, ...]
    clock: Clock
    settings: tuple[str, ...]
    labels: tuple[str, ...]
    rounds: tuple[PageRound, ...]
    figures: tuple[PageReading, ...]
    readings: tuple[tuple[tuple[str, str], ...], ...]
    final: Figures
    text: str  # the target's, exactly
    ending: str


def build_replay(
    events: Events, *, max_rounds: int = MAX_ROUNDS, notices: Sequence[str] = ()
) -> Replay:
    """Return what a page holds.

    Parameters
    ----------
    events
        Of one run, in order.
    max_rounds
        A longer run is shown up to here, and the page says so.
    notices
        Sentences to show above the replay.

    Raises
    ------
    DraftscopeError
        If there is no run in the events.
    """
    kept, total = first_rounds(events, max_rounds)
    document = Document(kept)
    if document.started is None:
        raise DraftscopeError(
            "This trace has no beginning of a run, so there is nothing to replay. "
            "Record the run again."
        )
    if total > len(document.rounds):
        cut = (
            f"This run has {total:,} rounds; the page replays the first {len(document.rounds):,}, "
            "and its figures are those of these rounds."
        )
        notices = (*notices, cut)
    told = document.imported
    tables = _Tables(document)
    rounds = tuple(tables.round(one) for one in document.rounds)
    running = list(running_figures(document.events))
    shown = [readings(figures) for figures in running]
    return Replay(
        header=header(document.started, document.rounds, document.imported),
        notices=tuple(notices),
        clock=Clock(),
        settings=tuple(tables.settings),
        labels=tuple(tables.labels.texts),
        rounds=rounds,
        figures=tuple(PageReading(r.name, r.unit, r.how, r.definition) for r in shown[-1]),
        readings=tuple(tuple((r.text, r.detail) for r in row) for row in shown),
        final=running[-1],
        text=text_of(document.events) if told is None else told.text,
        ending=ending_words(document),
    )


class _Tables:
    """Turns rounds into records; labels and settings are kept once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._chips = _finished_chips(document)
        self.labels = Labels()
        self.settings: list[str] = []
        self._last_set = -1

    def round(self, one: Round) -> PageRound:
        settings = self._document.settings_at(one.index)
        greedy = target_greedy(settings)
        words = settings_words(settings, one.k) if settings is not None else ""
        if words not in self.settings:
            self.settings.append(words)
        number = self.settings.index(words)
        changed = self._last_set not in (-1, number)
        self._last_set = number
        return PageRound(
            d=tuple(self._drafted(one, slot, greedy) for slot in range(len(one.drafted))),
            c=None if one.closing is None else self._closing(one, one.closing, greedy),
            w=round_words(one),
            set=number,
            changed=changed,
            greedy=greedy,
        )

    def _drafted(self, one: Round, slot: int, greedy: bool) -> PageToken:
        token: DraftedToken = one.drafted[slot]
        chip = self._chips[TokenRef(one.index, slot)]
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

    def _closing(self, one: Round, token: ClosingToken, greedy: bool) -> PageToken:
        chip = self._chips[TokenRef(one.index, -1)]
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


def _finished_chips(document: Document) -> dict[TokenRef, Chip]:
    presentation = Presentation(document)
    presentation.seek(len(document.rounds) - 1)
    strip = StripModel(document, presentation)
    strip.refresh()
    return {chip.ref: chip for chip in strip.chips}


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
