"""A short draft says why, wherever its round is shown; an exhausted context is said for the run."""

from __future__ import annotations

import msgspec
import pytest

from app.export.words import round_words
from app.viewmodels.acceptance import AcceptanceModel
from app.viewmodels.court import CourtModel
from app.viewmodels.document import Document
from app.viewmodels.draft_ends import ShortDraftCount, short_clause, short_label, why_short
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, TokenRef
from app.viewmodels.strip import StripModel
from app.viewmodels.timeline import TimelineModel
from app.viewmodels.token_note import token_note
from app.viewmodels.verdict_words import closing_words
from engine.trace.events import DraftEnd, ModelInfo, RunStarted, SettingsChanged
from tests.app.rounds import RUN, make_round
from tests.traces import make_trace

SMALL = ModelInfo(name="small", kind="model", context_length=512)
LARGE = ModelInfo(name="large", kind="model", context_length=1024)


def short(index, fates, end, k=4):
    return msgspec.structs.replace(make_round(index, fates), k=k, draft_end=end)


def started(**fields) -> RunStarted:
    first = msgspec.structs.replace(make_trace(rounds=1)[0], run=RUN, drafter=SMALL)
    settings = msgspec.structs.replace(first.settings, **fields)
    return msgspec.structs.replace(first, settings=settings)


def document(*rounds, **fields) -> Document:
    return Document([started(**fields), *rounds])


def warned(model: AcceptanceModel) -> str:
    return model.notice.partition("Repetition")[0].strip()  # the rounds here repeat one token


WHOLE, UNSURE, LIMIT, NO_MATCH = (
    make_round(0, "aaaa"),
    short(0, "aa", DraftEnd.UNSURE),
    short(0, "a", DraftEnd.LIMIT),
    short(0, "", DraftEnd.NO_MATCH),
)


@pytest.mark.parametrize(
    ("one", "label", "clause"),
    [
        (WHOLE, "", ""),
        (UNSURE, "2 of 4 drafted: unsure", "largest probability fell below the confidence"),
        (LIMIT, "1 of 4 drafted: limit", "the limit leaves room for no more"),
        (NO_MATCH, "no match", "the look-up found nothing"),
        (short(0, "a", DraftEnd.NO_MATCH), "1 of 4 drafted: no match", "found nothing further"),
        (short(0, "", DraftEnd.CONTEXT), "the drafter's context ends", "of 512 tokens"),
    ],
)
def test_a_round_says_why_its_draft_is_short(one, label, clause):
    assert short_label(one) == label
    said = short_clause(one, SMALL, 0.4)
    assert clause in said
    assert bool(said) == bool(clause)
    assert ("(0.4)" in said) == (one is UNSURE)


def test_every_way_in_which_a_draft_ends_has_words():
    for end in DraftEnd:
        assert short_label(short(0, "a", end))
        assert short_clause(short(0, "a", end))
        shown = document(short(0, "a", end))
        assert AcceptanceModel(shown, visible=1).short.startswith(
            "Short drafts in 1 of 1 round: 1 "
        )


def test_the_reason_stands_with_the_round_in_timeline_export_note_and_court():
    shown = document(UNSURE, confidence=0.4)
    words = "2 of 4 drafted: the drafter's largest probability fell below the confidence asked for"
    assert (
        TimelineModel(shown)
        .describe(0)
        .startswith("round 1: 2/2 accepted (2 of 4 drafted: unsure)")
    )
    assert round_words(UNSURE) == "2 of 2 accepted, then a bonus (2 of 4 drafted: unsure)"
    presentation = Presentation(shown, speed=1.0)
    presentation.seek(9)
    court = CourtModel(shown, presentation)
    strip = StripModel(shown, presentation)
    strip.refresh()
    notes = {chip.ref: token_note(shown, chip) for chip in strip.chips}
    for slot, expected in ((0, False), (1, True), (CLOSING_SLOT, True)):
        court.pinned = TokenRef(0, slot)
        assert any(note.startswith(words) for note in court.case().notes) is expected
        assert (words in notes[TokenRef(0, slot)]) is expected


def test_a_plain_round_says_why_there_is_no_draft():
    shown = document(NO_MATCH)
    said = closing_words(NO_MATCH, greedy=True, short=why_short(shown, NO_MATCH))
    assert "nothing was drafted, since the look-up found nothing, so it is neither" in said
    assert round_words(NO_MATCH) == "nothing drafted (no match): a plain token"
    assert TimelineModel(shown).describe(0).startswith("round 1: no draft (no match)")
    asked_for_none = make_round(0, "")
    assert "k is 0 in this round" in closing_words(asked_for_none, greedy=True)
    assert round_words(asked_for_none) == "nothing drafted: a plain token"


@pytest.mark.case("A42")
def test_an_exhausted_context_is_said_once_with_the_round_and_the_length():
    rounds = [make_round(0, "aaaa"), short(1, "aa", DraftEnd.CONTEXT)]
    rounds += [short(index, "", DraftEnd.CONTEXT) for index in range(2, 9)]
    rounds.append(short(9, "", DraftEnd.LIMIT))  # the last round, which the limit ends
    shown = document(*rounds)
    sentence = (
        "From round 3 on nothing was drafted: the text is longer than the drafter's context of "
        "512 tokens."
    )
    for visible in (3, 5, 10):
        model = AcceptanceModel(shown, visible=visible)
        assert warned(model) == sentence
        assert model.short == ""  # said already
    assert warned(AcceptanceModel(shown, visible=2)) == ""
    assert AcceptanceModel(shown, visible=2).short == (
        "Short drafts in 1 of 2 rounds: 1 at the end of the drafter's context."
    )


def test_a_drafter_that_reads_further_takes_over_the_sentence():
    rounds = [short(index, "", DraftEnd.CONTEXT) for index in range(3)]
    settings = msgspec.structs.replace(started().settings, drafter="model:large")
    change = SettingsChanged(run=RUN, before_round=3, settings=settings, drafter=LARGE)
    shown = document(*rounds, change, make_round(3, "aaaa"))
    assert AcceptanceModel(shown, visible=3).notice.startswith("From round 1 on nothing")
    assert AcceptanceModel(shown, visible=4).notice.startswith("In 3 rounds nothing was drafted")


def test_a_document_knows_the_drafter_of_each_round():
    settings = started().settings
    changes = [
        ("model:large", LARGE, {}),
        ("model:large", None, {"k": 2}),  # the drafter stays
        ("none", None, {}),
    ]
    events = [make_round(0, "aaaa")]
    for index, (drafter, info, fields) in enumerate(changes, 1):
        after = msgspec.structs.replace(settings, drafter=drafter, **fields)
        events.append(SettingsChanged(run=RUN, before_round=index, settings=after, drafter=info))
        events.append(make_round(index, "aaaa"))
    shown = document(*events)
    assert [shown.drafter_at(index) for index in range(4)] == [SMALL, LARGE, LARGE, None]


@pytest.mark.parametrize("visible", [0, 1, 3, 5, 8])
def test_counting_event_by_event_is_the_panels_count(visible):
    ends = [None, DraftEnd.UNSURE, DraftEnd.NO_MATCH, DraftEnd.CONTEXT, DraftEnd.CONTEXT]
    fates = ["aaaa", "aa", "", "a", "", "aaaa", "ar", "a"]
    ends += [None, DraftEnd.UNSURE, DraftEnd.LIMIT]
    rounds = [short(i, *pair) for i, pair in enumerate(zip(fates, ends, strict=True))]
    counted = ShortDraftCount()
    for event in [started(), *rounds[:visible]]:
        counted.add(event)
    model = AcceptanceModel(document(*rounds), visible=visible)
    found = counted.so_far
    assert warned(model) == found.warning()
    words = f"Short drafts in {found.words()}." if found.words() and not found.warning() else ""
    assert model.short == words
