"""What the strip shows at each moment, and that following it touches only what changed."""

from __future__ import annotations

import pytest

from app.viewmodels import shown_chips
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from app.viewmodels.strip import EMPTY_NOTICE, StripModel
from app.viewmodels.token_note import token_note
from engine.trace.events import (
    DraftedToken,
    Fate,
    FinishReason,
    Match,
    Round,
    RunFinished,
    RunStarted,
)
from tests.app.opened import opened, write_trace
from tests.app.texts import run_of
from tests.traces import make_trace


def shown(rounds=12, k=4, temperature=1.0, **keywords):
    document = Document(make_trace(rounds=rounds, k=k, temperature=temperature, **keywords))
    presentation = Presentation(document, speed=1.0)
    return document, presentation, StripModel(document, presentation)


def expected_at_the_end(document):
    refs = [TokenRef(PROMPT_ROUND, i) for i in range(len(document.started.prompt_tokens))]
    for one in document.rounds:
        refs += [TokenRef(one.index, slot) for slot in range(len(one.drafted))]
        refs += [TokenRef(one.index, CLOSING_SLOT)] if one.closing is not None else []
    return refs


def test_every_token_is_shown_in_logical_order():
    document, presentation, model = shown()
    presentation.seek(99)
    model.refresh()
    assert [chip.ref for chip in model.chips] == expected_at_the_end(document)
    for index, chip in enumerate(model.chips):
        assert model.index_of(chip.ref) == index
        token = document.token(chip.ref)
        wanted = {True: "prompt"}.get(chip.ref.in_prompt) or str(
            token.fate if isinstance(token, DraftedToken) else token.kind
        )
        assert chip.fate == wanted


def test_texts_of_emitted_chips_join_to_the_text():
    document, presentation, model = shown(rounds=60)
    presentation.seek(99)
    model.refresh()
    kept = [c for c in model.chips if not c.ref.in_prompt and document.is_emitted(c.ref)]
    joined = "".join(chip.text for chip in kept)
    assert model.text().startswith(joined)
    assert model.text() == "".join(text for one in document.rounds for text in one.texts) + (
        document.finished.tail
    )


def test_pending_tokens_fall_to_their_fates():
    document, presentation, model = shown()
    one = document.rounds[1]
    slots = [TokenRef(1, slot) for slot in range(len(one.drafted))]

    def fates():
        model.refresh()
        return {chip.ref: chip.fate for chip in model.chips if chip.ref.round == 1}

    presentation.seek(0)
    assert fates() == {}
    presentation.seek(1, "draft")
    assert fates() == dict.fromkeys(slots, "pending")
    presentation.seek(1, "verify")
    verdicts = {ref: str(token.fate) for ref, token in zip(slots, one.drafted, strict=True)}
    assert fates() == verdicts
    presentation.seek(1)
    assert fates() == verdicts | {TokenRef(1, CLOSING_SLOT): str(one.closing.kind)}


def test_any_path_to_a_cursor_shows_the_same():
    document, presentation, model = shown(rounds=20)
    other = StripModel(document, presentation)
    for index, phase in ((5, "draft"), (19, "done"), (3, "verify"), (-1, "done"), (4, "done")):
        presentation.seek(index, phase)
        model.refresh()
        other = StripModel(document, presentation)
        other.refresh()
        assert model.chips == other.chips


def test_refresh_names_the_first_chip_that_changed():
    _, presentation, model = shown(rounds=20)
    before = []
    while not presentation.at_end:
        presentation.advance(0.05)
        first = model.refresh()
        assert model.chips[:first] == before[:first]
        if first < len(model.chips) and first < len(before):
            assert model.chips[first] != before[first]
        before = list(model.chips)
        assert model.refresh() == len(model.chips)


def test_following_a_run_makes_the_chips_of_the_moving_round_alone(monkeypatch):
    made = []
    make = shown_chips.make_chip
    monkeypatch.setattr(
        shown_chips, "make_chip", lambda *a, **k: (made.append(a), make(*a, **k))[1]
    )
    _, presentation, model = shown(rounds=300, k=4)
    model.refresh()
    while not presentation.at_end:
        made.clear()
        presentation.advance(1 / 60)
        model.refresh()
        assert len(made) <= 2 * (4 + 1)  # a round that was finished, and the next one


def test_hidden_drafts_leave_the_text_alone():
    document, presentation, model = shown(rounds=20)
    presentation.seek(99)
    model.refresh()
    text = model.text()
    model.show_drafts = False
    assert model.refresh() == 0
    assert all(document.is_emitted(chip.ref) for chip in model.chips)
    assert model.text() == text
    assert (
        model.index_of(
            next(r for r in expected_at_the_end(document) if r not in {c.ref for c in model.chips})
        )
        is None
    )
    model.show_drafts = True
    model.refresh()
    assert [chip.ref for chip in model.chips] == expected_at_the_end(document)


def test_each_round_has_one_boundary():
    document, presentation, model = shown(rounds=20)
    for show in (True, False):
        model.show_drafts = show
        presentation.seek(99)
        model.refresh()
        starts = [chip.ref.round for chip in model.chips if chip.starts_round]
        assert starts == [one.index for one in document.rounds if one.emitted or show]


def test_source_of_a_copy_is_found():
    document, _, model = shown(rounds=40, temperature=0.0, drafter="ngram")
    found = 0
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            source = model.source(TokenRef(one.index, slot))
            assert isinstance(one.match, Match)
            if one.match.start + slot < one.position:
                assert document.token(source).id == token.id
                found += 1
    assert found
    assert model.source(TokenRef(PROMPT_ROUND, 0)) is None
    assert model.source(TokenRef(0, CLOSING_SLOT)) is None


def test_a_round_that_cannot_be_read_back_has_no_source(tmp_path):
    events = make_trace(rounds=40, temperature=0.0, drafter="ngram")
    path = write_trace(tmp_path / "t.jsonl", events)
    document = opened(path)
    path.write_bytes(b"")
    model = StripModel(document, Presentation(document))
    index = next(one.index for one in events if isinstance(one, Round) and one.match is not None)
    assert model.source(TokenRef(index, 0)) is None
    assert document.rounds.read == 1  # it was tried


def test_where_a_stop_string_cut_is_not_marked_if_it_cannot_be_read_back(tmp_path):
    events = run_of([b"a", b"b"], [b"c", b"de"], stops=["d"], reason=FinishReason.STOP_STRING)
    path = write_trace(tmp_path / "t.jsonl", events)
    there, document = Document(events), opened(path)
    path.write_bytes(b"")
    cuts, refs = [], []
    for one in (there, document):
        presentation = Presentation(one)
        model = StripModel(one, presentation)
        presentation.seek(99)
        model.refresh()
        cuts.append([chip.cut for chip in model.chips if chip.cut is not None])
        refs.append([chip.ref for chip in model.chips])
    assert cuts[0]
    assert cuts[1] == []
    assert refs[0] == refs[1]


def test_new_run_replaces_the_old_one():
    document, presentation, model = shown()
    presentation.seek(99)
    model.refresh()
    document.clear()
    presentation.advance(0)
    assert model.refresh() == 0
    assert model.chips == []
    assert model.notice == EMPTY_NOTICE
    document.extend(make_trace(seed=5))
    presentation.seek(0)
    model.refresh()
    assert model.chips[0].ref == TokenRef(PROMPT_ROUND, 0)


@pytest.mark.parametrize("reason", list(FinishReason))
def test_every_ending_is_said_once_all_is_shown(reason):
    _, presentation, model = shown(reason=reason)
    presentation.seek(0)
    assert model.notice == ""
    presentation.seek(99)
    assert model.notice


@pytest.mark.case("B27")
def test_end_token_at_once_is_said():
    events = make_trace(rounds=1, k=0, reason=FinishReason.END_TOKEN)
    started = events[0]
    assert isinstance(started, RunStarted)
    document = Document(events)
    if document.rounds[0].emitted_ids[0] not in started.end_tokens:
        pytest.fail("the trace does not end at once")
    presentation = Presentation(document)
    presentation.seek(9)
    assert "at once" in StripModel(document, presentation).notice


def test_run_without_a_round_has_a_notice():
    events = make_trace(rounds=1)
    document = Document([events[0], RunFinished(run=events[0].run, reason=FinishReason.END_TOKEN)])
    model = StripModel(document, Presentation(document))
    model.refresh()
    assert "end token" in model.notice


def test_notes_say_the_numbers_in_plain_lines():
    document, presentation, model = shown(rounds=30)
    presentation.seek(99)
    model.refresh()
    by_fate = {chip.fate: token_note(document, chip) for chip in model.chips}
    assert set(by_fate) >= {"prompt", "accepted", "rejected", "discarded", "correction", "bonus"}
    assert "min(1, p_target / q_draft)" in by_fate["accepted"]
    assert "u " in by_fate["rejected"]
    assert "min(1" not in by_fate["discarded"]
    assert "residual" in by_fate["correction"]
    presentation.seek(1, "draft")
    model.refresh()
    pending = token_note(document, model.chips[-1])
    assert "q_draft" in pending
    assert "p_target" not in pending  # not known before the pass


@pytest.mark.case("B25")
def test_markup_in_a_note_is_text():
    pieces = (b"<b>x</b>", b"&lt;", b"<img src=x>", b"a<b", b" the")
    document = Document(make_trace(rounds=6, vocabulary=pieces))
    presentation = Presentation(document)
    presentation.seek(99)
    model = StripModel(document, presentation)
    model.refresh()
    for chip in model.chips:
        piece = document.token(chip.ref).piece.decode()
        assert piece.strip() in token_note(document, chip)


def test_cut_tokens_are_shown_and_not_in_the_text():
    document, presentation, model = shown(reason=FinishReason.STOP_STRING)
    presentation.seek(99)
    model.refresh()
    cut = [chip for chip in model.chips if chip.fate == "cut"]
    assert cut
    assert all(document.token(chip.ref).fate is Fate.CUT for chip in cut)
