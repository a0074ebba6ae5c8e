"""The court: what decided one token, as bars, numbers and words.

Knows which token is before the court (the pinned one, else the latest that was judged) and which
of its laws are known at this moment of the presentation. Knows no pixel, no font and no colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.viewmodels.court_bars import Bar, bars_of, with_mass
from app.viewmodels.court_figures import readings
from app.viewmodels.draft_ends import short_sentence, why_short
from app.viewmodels.meanings import MEANINGS
from app.viewmodels.numbers import probability, token_label
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from app.viewmodels.settings_words import law_words, moved_words
from app.viewmodels.sides import drafter_greedy, target_greedy
from app.viewmodels.verdict_words import (
    closing_words,
    drafted_words,
    one_hot_words,
    threshold_words,
)
from engine.trace.events import ClosingToken, DraftedToken, Fate

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation
    from app.viewmodels.readings import Reading
    from engine.trace.events import Round

NOTHING_JUDGED = "No token has been judged yet."
EMPTY_COURT = f"{NOTHING_JUDGED} Click a token in the text to bring it here."
UNOBSERVED = "This run was recorded without observation: only the token's own numbers are known."
UNRECORDED = "No laws were recorded for this token: only its own numbers are known."
ONE_HOT_TARGET = "At temperature 0 p_target is one-hot. The raw law shows what it was made from."
RAW_LAW = "Bars show the raw law; the verdict comes from the processed one."
ABANDONED = "Its laws follow the rejected token: they belong to a text that was given up."


@dataclass(frozen=True)
class Case:
    """Everything that the court shows of one token.

    Attributes
    ----------
    ref, label, token_id, fate
        The token; `fate` is a key of the theme's fates.
    place
        Where it stands, in words.
    bars
        In falling order of p_target; the last one is the rest.
    law
        Whether `p_target` in the bars is the processed law, which decides, or the raw one.
    target_law
        What the processed law went through: "after temperature 0.8, top-p 0.9".
    threshold, u
        min(1, p_target / q_draft) and the uniform of the test; for a closing token `u` alone, the
        uniform of its draw. None where there was no test.
    tested
        Whether `u` was held against `threshold`.
    verdict, notes
        Sentences.
    readings
        Numbers with how each was obtained.
    pinned
        Whether the viewer chose this token.
    """

    ref: TokenRef
    label: str
    token_id: int
    fate: str
    place: str
    bars: tuple[Bar, ...]
    law: Literal["processed", "raw"]
    target_law: str
    threshold: float | None
    u: float | None
    tested: bool
    verdict: str
    notes: tuple[str, ...]
    readings: tuple[Reading, ...]
    pinned: bool

    def in_words(self) -> str:
        """Return the whole case as text, for a screen reader."""
        bars = (
            f"{bar.label}: "
            + ", ".join(
                f"{name} {probability(value)}"
                for name, value in zip(
                    ("p_target", "q_draft", "residual"),
                    (bar.p_target, bar.q_draft, bar.residual),
                    strict=True,
                )
                if value is not None
            )
            for bar in self.bars
        )
        numbers = (reading.spoken for reading in self.readings)
        head = f"{self.label}, {self.fate}. {self.place}."
        return "\n".join((head, self.verdict, *self.notes, *numbers, *bars))

    def rows(self, limit: int) -> tuple[Bar, ...]:
        """Return at most `limit` bars: the token's own are kept, the rest's mass grows."""
        if len(self.bars) <= limit:
            return self.bars
        *shown, rest = self.bars
        own = [bar for bar in shown if bar.role]
        free = max(0, limit - 1 - len(own))
        kept = set([bar for bar in shown if not bar.role][:free]) | set(own)
        left = [bar for bar in shown if bar not in kept]
        return (*(bar for bar in shown if bar in kept), with_mass(rest, left))


class CourtModel:
    """Chooses the token before the court and describes its case.

    Attributes
    ----------
    pinned
        The token that the viewer chose, or None to follow the latest judged one.
    show_raw
        Show the target's raw law in the bars instead of the processed one.
    """

    def __init__(self, document: Document, presentation: Presentation) -> None:
        self._document = document
        self._presentation = presentation
        self._run = document.run
        self._key: tuple[object, ...] | None = None
        self._case: Case | None = None
        self.pinned: TokenRef | None = None
        self.show_raw = False

    def case(self) -> Case | None:
        """Return the case to show, or None if no token was judged yet."""
        if self._document.run != self._run:
            self._run, self.pinned = self._document.run, None
        ref = self.pinned if self.pinned and self._phase(self.pinned) else self.latest_judged()
        if ref is None:
            return None
        phase = self._phase(ref)
        key = (self._document.run, ref, phase, self.show_raw, ref == self.pinned)
        if key != self._key:
            self._key, self._case = key, self._make(ref, phase)
        return self._case

    @property
    def empty(self) -> str:
        """Say why there is no case."""
        told = self._document.imported
        return EMPTY_COURT if told is None else f"{told.program} tells no verdicts of tokens."

    def latest_judged(self) -> TokenRef | None:
        """Return the token whose verdict fell last at the cursor."""
        cursor = self._presentation.cursor
        rounds = self._document.rounds
        if cursor.phase == "verify" and cursor.revealed and cursor.round < len(rounds):
            drafted = rounds[cursor.round].drafted[: cursor.revealed]
            for slot in range(len(drafted) - 1, -1, -1):
                if drafted[slot].fate in (Fate.ACCEPTED, Fate.REJECTED):
                    return TokenRef(cursor.round, slot)
        last = min(self._presentation.visible_rounds(), len(rounds)) - 1
        if last < 0:
            return None
        if rounds[last].closing is not None:
            return TokenRef(last, CLOSING_SLOT)
        kept = rounds[last].accepted
        return TokenRef(last, kept - 1) if kept else None

    def _phase(self, ref: TokenRef) -> Literal["", "pending", "judged"]:
        """Return whether a token is shown at the cursor, and its verdict with it."""
        if self._document.token(ref) is None:
            return ""
        if ref.in_prompt or ref.round < self._presentation.visible_rounds():
            return "judged"
        cursor = self._presentation.cursor
        if ref.round != cursor.round or ref.is_closing:
            return ""
        if cursor.phase == "verify":
            return "judged" if ref.slot < cursor.revealed else "pending"
        return "pending" if ref.slot < cursor.revealed else ""

    def _make(self, ref: TokenRef, phase: str) -> Case:
        token = self._document.token(ref)
        assert token is not None  # `case` asks `_phase` first
        if ref.in_prompt:
            return self._given(ref, token.piece, token.id)
        one = self._document.rounds[ref.round]
        settings = self._document.settings_at(ref.round)
        greedy = target_greedy(settings)
        target_law = "" if settings is None else law_words(settings)
        short = why_short(self._document, one)
        notes: list[str] = []
        if isinstance(token, DraftedToken):
            judged = phase == "judged"
            fate = str(token.fate) if judged else "pending"
            verdict = drafted_words(one, ref.slot, greedy=greedy) if judged else MEANINGS["pending"]
            notes.append(one_hot_words(one, token, greedy=drafter_greedy(settings)))
            notes.append(threshold_words(token) if judged else "")
            if judged and token.fate is Fate.DISCARDED and token.laws is not None:
                notes.append(ABANDONED)
            if ref.slot == len(one.drafted) - 1:
                notes.append(short_sentence(one, short))
            threshold, u = (token.acceptance_probability, token.u) if judged else (None, None)
            tested = judged and token.fate in (Fate.ACCEPTED, Fate.REJECTED)
        else:
            assert isinstance(token, ClosingToken)  # a round holds these two kinds
            judged, tested, threshold, u = True, False, None, token.u
            fate, verdict = str(token.kind), closing_words(one, greedy=greedy, short=short)
            notes.append(short_sentence(one, short))
        if judged and settings is not None:
            notes.append(moved_words(settings))
        if token.laws is None:
            started = self._document.started
            notes.append(UNOBSERVED if started and started.top_n == 0 else UNRECORDED)
        elif self.show_raw:
            notes.append(RAW_LAW)
        elif greedy and judged:
            notes.append(ONE_HOT_TARGET)
        return Case(
            ref=ref,
            label=token_label(token.piece),
            token_id=token.id,
            fate=fate,
            place=_place(one, ref),
            bars=bars_of(one, token, raw=self.show_raw, judged=judged),
            law="raw" if self.show_raw else "processed",
            target_law=target_law,
            threshold=threshold if tested else None,
            u=u,
            tested=tested and u is not None,
            verdict=verdict,
            notes=tuple(note for note in notes if note),
            readings=readings(token, judged=judged, greedy=greedy, target_law=target_law),
            pinned=ref == self.pinned,
        )

    def _given(self, ref: TokenRef, piece: bytes, token_id: int) -> Case:
        return Case(
            ref=ref,
            label=token_label(piece),
            token_id=token_id,
            fate="prompt",
            place=f"Token {ref.slot + 1} of the prompt",
            bars=(),
            law="processed",
            target_law="",
            threshold=None,
            u=None,
            tested=False,
            verdict=f"{MEANINGS['prompt']} No verdict fell on it.",
            notes=(),
            readings=(),
            pinned=ref == self.pinned,
        )


def _place(one: Round, ref: TokenRef) -> str:
    drafted = len(one.drafted)
    if ref.is_closing:
        return f"Round {one.index + 1}, closing token"
    return f"Round {one.index + 1}, drafted token {ref.slot + 1} of {drafted}"
