"""One round told on consecutive slides: draft, pass, verdicts, the closing token, what is left.

Knows which round tells most and what is said on each slide. The verdicts' words, the laws and the
numbers are `app.viewmodels`' own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.moments import Moment, parse_moment
from app.export.slide_columns import Columns, columns_of_round, token_columns
from app.export.slide_court import (
    TRACK_HEIGHT,
    case_at,
    court_words,
    law_chart,
    reading_lines,
    track,
)
from app.export.slide_deck import CONTENT, Box
from app.export.slide_fates import paragraphs_of, shown_chips, text_so_far
from app.export.slide_tables import Table, add_table
from app.export.slide_text import Paragraph, Run, clean, fit, words
from app.export.words import round_words
from app.viewmodels.caches import CachesModel
from app.viewmodels.draft_ends import short_sentence, why_short
from app.viewmodels.numbers import count, quoted
from app.viewmodels.portion import CODES
from app.viewmodels.presentation import Presentation
from app.viewmodels.readings import milliseconds
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from engine.errors import DraftscopeError
from engine.trace.events import ClosingKind, Fate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.export.options import Options
    from app.export.slide_deck import Deck, Page
    from app.viewmodels.court import Case
    from app.viewmodels.document import Document
    from engine.trace.events import Round

_TRIED = 50  # rounds that are read back to see whether their laws were kept
_SINGLY = 6  # verdicts that get a slide each; of longer rounds all fall on one
_TESTED = (Fate.ACCEPTED, Fate.REJECTED)


def told_round(document: Document, options: Options) -> int | None:
    """Return the round that is told: the one asked for, or the most telling one; None if none is.

    The most telling round is the first that has an accepted, a rejected and a discarded token and
    whose laws were observed; else the first with a rejection whose laws were; else the first with
    a rejection; else the first with a draft; else the first. Of rounds with a rejection those that
    a marker stands at come first: they are what the talk is about.

    Raises
    ------
    DraftscopeError
        If the moment asked for is none, or none of a round.
    """
    if options.told:
        index = parse_moment(options.told, document).round
        if index < 0:
            raise DraftscopeError(
                f'"{options.told}" is before the first round, so no round can be told: name one.'
            )
        return index
    return most_telling(document)


def most_telling(document: Document) -> int | None:
    """Return the round that `told_round` chooses by itself."""
    total = len(document.rounds)
    marked = sorted({m.round for m in document.markers if 0 <= m.round < total})
    (middle, rejection), (first_middle, first_rejection) = (
        _with_rejections(document, rounds) for rounds in (marked, range(total))
    )
    found = (*middle, *rejection, *first_middle, *first_rejection)
    if document.started is not None and document.started.top_n > 0:
        for index in found:
            if _has_laws(document.rounds[index]):
                return index
    if found:
        return found[0]
    drafts = (index for index in range(total) if len(document.tokens.fates(index)))
    return next(drafts, 0 if total else None)


def _with_rejections(document: Document, rounds: Iterable[int]) -> tuple[list[int], list[int]]:
    """Return the first rounds with all three fates, and the first with a rejection."""
    accepted, rejected = CODES[Fate.ACCEPTED], CODES[Fate.REJECTED]
    discarded = CODES[Fate.DISCARDED]
    middle: list[int] = []
    rejection: list[int] = []
    for index in rounds:
        fates = document.tokens.fates(index)
        if rejected in fates:
            rejection.append(index)
            if accepted in fates and discarded in fates:
                middle.append(index)
                if len(middle) >= _TRIED:
                    break
    return middle, rejection[:_TRIED]


def _has_laws(one: Round) -> bool:
    return any(token.laws is not None for token in one.drafted if token.fate is Fate.REJECTED)


class Told:
    """The slides of one round."""

    def __init__(self, deck: Deck, document: Document, index: int, options: Options) -> None:
        self._deck, self._document, self._index = deck, document, index
        self._round = document.rounds[index]
        self._captions = options.captions
        self._name = f"Round {index + 1}"
        self._columns: Columns = columns_of_round(self._round)

    def add(self) -> None:
        """Add all of them."""
        if self._round.drafted:
            self._draft()
            self._pass()
            self._verdicts()
        self._closing()
        self._emitted()

    def _draft(self) -> None:
        one = self._round
        ms = milliseconds(one.times.draft)
        title = f"{self._name}: the drafter proposes {count(len(one.drafted), 'token')}"
        why = short_sentence(one, why_short(self._document, one))
        how = "each drawn from its own law q_draft"
        if one.match is not None:
            how = "copied from earlier in the text: nothing is drawn, so q_draft is 1"
        elif all(token.q_draft >= 1.0 for token in one.drafted):
            how = "each its own most probable one, so q_draft is 1"
        said = f"{self._drafter()} drafts {count(len(one.drafted), 'token')} in {ms} ms, {how}."
        page = self._deck.page(title, self._of("the draft"), " ".join(filter(None, (said, why))))
        self._context(page)
        token_columns(page, self._columns, revealed=0, target=False)
        self._say(page, said, why)

    def _pass(self) -> None:
        one = self._round
        ms = milliseconds(one.times.verify)
        title = f"{self._name}: one pass of the target scores them all"
        said = (
            f"The target reads all {count(len(one.drafted), 'drafted token')} in one pass of {ms} "
            "ms. It gives a law p_target for each place of the draft and for the one after it."
        )
        page = self._deck.page(title, self._of("the pass"), said)
        self._context(page)
        token_columns(page, self._columns, revealed=0, target=True)
        self._say(page, said)

    def _verdicts(self) -> None:
        one = self._round
        tested = [slot for slot, token in enumerate(one.drafted) if token.fate in _TESTED]
        if not tested:  # a stop or the limit cut the whole draft
            return
        steps = tested if len(tested) <= _SINGLY else tested[-1:]
        for slot in steps:
            token = one.drafted[slot]
            title = f"{self._name}: {quoted(token.piece)} is {token.fate}"
            verdict = f"verdict {tested.index(slot) + 1} of {len(tested)}"
            case = case_at(
                self._document, Moment(self._index, "verify", TokenRef(self._index, slot))
            )
            notes = case.in_words() if case is not None else ""
            page = self._deck.page(title, self._of(verdict), notes)
            shown = len(one.drafted) if slot == tested[-1] else slot + 1
            token_columns(page, self._columns, revealed=shown, target=True, chart=False, at=slot)
            if case is not None:
                self._test(page, case)

    def _test(self, page: Page, case: Case) -> None:
        top = CONTENT.top + 118.0
        wide = 430.0 if case.bars else CONTENT.width
        left = Box(CONTENT.left, top, wide, CONTENT.bottom - top)
        if case.u is not None:
            track(page, left._replace(height=TRACK_HEIGHT), case)
            left = Box(left.left, top + 76.0, left.width, left.height - 76.0)
        muted = self._deck.theme.muted
        told = court_words(case, muted, notes=self._captions)
        told += reading_lines(case, muted)
        if case.bars:
            right = Box(
                CONTENT.left + 460.0, top - 6.0, CONTENT.width - 460.0, left.bottom - top + 6.0
            )
            law_chart(page, right, case)
        page.text(left, told, name="Verdict")

    def _closing(self) -> None:
        one = self._round
        if one.closing is None:
            return
        kind = one.closing.kind
        ref = TokenRef(self._index, CLOSING_SLOT)
        case = case_at(self._document, Moment(self._index, "done", ref))
        if case is None:
            return
        title = {
            ClosingKind.CORRECTION: f"the correction {quoted(one.closing.piece)}",
            ClosingKind.BONUS: f"a bonus {quoted(one.closing.piece)}, from the same pass",
            ClosingKind.PLAIN: f"a plain token {quoted(one.closing.piece)}",
        }[kind]
        page = self._deck.page(
            f"{self._name}: {title}", self._of("the closing token"), case.in_words()
        )
        left = Box(CONTENT.left, CONTENT.top + 4.0, 400.0, CONTENT.height - 4.0)
        muted = self._deck.theme.muted
        told = court_words(case, muted, notes=self._captions)
        told += reading_lines(case, muted)
        if case.u is not None:
            track(page, Box(left.left, left.top, left.width, TRACK_HEIGHT), case)
            left = Box(left.left, left.top + 76.0, left.width, left.height - 76.0)
        page.text(left, told, name="Where it came from")
        if case.bars:
            chart = Box(CONTENT.left + 430.0, CONTENT.top, CONTENT.width - 430.0, CONTENT.height)
            law_chart(page, chart, case)

    def _emitted(self) -> None:
        one = self._round
        theme = self._deck.theme
        title = f"{self._name}: {count(one.emitted, 'token')} from one pass"
        said = f"{round_words(one)[:1].upper()}{round_words(one)[1:]}."
        caches = CachesModel(self._document, self._index + 1)
        page = self._deck.page(
            title,
            self._of("what it came to"),
            " ".join([said, *(r.spoken for r in caches.readings)]),
        )
        token_columns(
            page, self._columns, revealed=len(one.drafted), target=True, chart=False, closing=True
        )
        line = words(said, 20.0, bold=True)
        page.text(Box(CONTENT.left, CONTENT.top + 112.0, CONTENT.width, 30.0), [line], name="Sum")
        rows = tuple(
            (
                words(reading.name, 14.0, theme.target if at == 0 else theme.drafter, bold=True),
                words(f"{reading.text} {reading.unit}".strip(), 14.0),
                words(reading.detail, 14.0),
            )
            for at, reading in enumerate(caches.readings)
        )
        table = Table(("", "after the round", "before → peak → after"), rows, (0.18, 0.27, 0.55))
        box = Box(CONTENT.left, CONTENT.top + 148.0, CONTENT.width, 110.0)
        high = add_table(
            page, box, table, "Caches", f"Caches: {' '.join(r.spoken for r in caches.readings)}"
        )
        times = (
            ("draft", one.times.draft),
            ("verify", one.times.verify),
            ("accept", one.times.accept),
            ("commit", one.times.commit),
        )
        spent = ", ".join(f"{name} {milliseconds(ns)} ms" for name, ns in times)
        where = Box(CONTENT.left, box.top + high + 14.0, CONTENT.width, 24.0)
        page.text(where, [words(f"Time of the round: {spent}", 14.0, theme.muted)], name="Times")
        presentation = Presentation(self._document)
        presentation.seek(self._index)
        chips = shown_chips(self._document, presentation)
        top = where.bottom + 6.0
        rest = Box(CONTENT.left, top, CONTENT.width, CONTENT.bottom - top)
        text_so_far(page, rest, chips, alt="The text so far, each token with its fate")

    def _of(self, what: str) -> str:
        return f"One round told: {what}"

    def _drafter(self) -> str:
        drafter = self._document.drafter_at(self._index)
        return drafter.name if drafter is not None else "The drafter"

    def _context(self, page: Page) -> None:
        """Show the end of the text that the round begins with."""
        presentation = Presentation(self._document)
        presentation.seek(self._index - 1)
        chips = shown_chips(self._document, presentation, drafts=False)[-40:]
        if not chips:
            return
        lines = paragraphs_of(chips, 15.0, begun=False)
        last = lines[-1]
        box = Box(CONTENT.left, CONTENT.top - 4.0, CONTENT.width, 26.0)
        label = Run("The text ends in  ", 14.0, self._deck.theme.muted)
        room = 58
        text = last.text[-room:]
        run = Run(clean(text), 15.0, bold=True, code=True)
        page.text(box, [Paragraph((label, Run("…", 15.0), run))], name="Text before", keep=True)

    def _say(self, page: Page, *sentences: str) -> None:
        if not self._captions:
            return
        told = [words(one, 16.0, after=4.0) for one in sentences if one]
        box = Box(CONTENT.left, CONTENT.bottom - 62.0, CONTENT.width, 62.0)
        page.text(box, fit(told, box.width, box.height), name="What happens", scale=True)
