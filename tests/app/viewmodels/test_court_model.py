"""The court tells the case of a token as it was decided, in numbers and in words."""

from __future__ import annotations

import math
import re

import msgspec
import pytest

from app.viewmodels.court import ABANDONED, UNOBSERVED, CourtModel
from app.viewmodels.court_bars import OTHERS
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from app.viewmodels.verdict_words import closing_words, drafted_words
from engine.trace.events import ClosingKind, DraftedToken, Fate, FinishReason, Round
from tests.traces import make_trace


def court(rounds=20, k=4, temperature=1.0, **keywords):
    document = Document(make_trace(rounds=rounds, k=k, temperature=temperature, **keywords))
    presentation = Presentation(document, speed=1.0)
    presentation.seek(10**6)
    return document, presentation, CourtModel(document, presentation)


def drafted(document, fate):
    for one in document.rounds:
        for slot, token in enumerate(one.drafted):
            if token.fate is fate:
                yield one, slot, token


def closings(document, kind):
    return (one for one in document.rounds if one.closing and one.closing.kind is kind)


def case_of(model, one, slot):
    model.pinned = TokenRef(one.index, slot)
    return model.case()


def test_accepted_token_says_u_is_below_the_threshold():  # A64
    document, _, model = court()
    for one, slot, token in drafted(document, Fate.ACCEPTED):
        case = case_of(model, one, slot)
        assert case.fate == "accepted"
        assert case.tested
        assert case.u < case.threshold == token.acceptance_probability
        assert re.match(
            r"Kept because u = \S+ < min\(1, p_target / q_draft\) = \S+\.$", case.verdict
        )


def test_accepted_although_less_likely_than_drafted():  # A64
    document, _, model = court(rounds=60)
    found = [
        (one, slot, token)
        for one, slot, token in drafted(document, Fate.ACCEPTED)
        if token.p_target < token.q_draft
    ]
    assert found
    for one, slot, token in found:
        case = case_of(model, one, slot)
        assert case.u < token.p_target / token.q_draft == pytest.approx(case.threshold)


def test_rejected_token_says_u_reached_the_threshold():
    document, _, model = court()
    for one, slot, _ in drafted(document, Fate.REJECTED):
        case = case_of(model, one, slot)
        assert case.u >= case.threshold
        assert "≥ min(1, p_target / q_draft)" in case.verdict
        assert any(bar.residual for bar in case.bars)
        roles = {bar.role for bar in case.bars}
        assert roles >= {"drafted", "drawn", "rest"}


def test_no_sentence_leaves_the_uniform_out():  # A64
    document, _, model = court(rounds=40)
    for one in document.rounds:
        for slot in range(len(one.drafted)):
            case = case_of(model, one, slot)
            text = case.in_words()
            assert not re.search(r"p_target\s*(>=|≥|>)\s*q_draft", text)
            if case.fate in ("accepted", "rejected"):
                assert "u = " in case.verdict


def test_numbers_too_close_to_round_apart_get_more_digits():
    document, _, _ = court()
    one, slot, token = next(drafted(document, Fate.ACCEPTED))
    near = msgspec.structs.replace(token, u=0.6200001, acceptance_probability=0.6200004)
    tokens = (*one.drafted[:slot], near, *one.drafted[slot + 1 :])
    words = drafted_words(msgspec.structs.replace(one, drafted=tokens), slot, greedy=False)
    left, right = re.findall(r"0\.\d+", words)
    assert float(left) < float(right)


def test_greedy_verdicts_speak_of_the_argmax():
    document, _, model = court(temperature=0.0)
    one, slot, _ = next(drafted(document, Fate.ACCEPTED))
    case = case_of(model, one, slot)
    assert "target's argmax" in case.verdict
    assert not case.tested
    assert case.u is None
    one, slot, _ = next(drafted(document, Fate.REJECTED))
    assert "not the target's argmax" in case_of(model, one, slot).verdict
    one = next(closings(document, ClosingKind.CORRECTION))
    assert "in place of the rejected" in case_of(model, one, CLOSING_SLOT).verdict


def test_discarded_and_cut_tokens_were_never_tested():
    document, _, model = court(reason=FinishReason.STOP_STRING)
    one, slot, _ = next(drafted(document, Fate.DISCARDED))
    case = case_of(model, one, slot)
    assert case.verdict.startswith("Never tested")
    assert case.threshold is None
    assert case.u is None
    assert ABANDONED in case.notes or not case.bars
    one, slot, _ = next(drafted(document, Fate.CUT))
    case = case_of(model, one, slot)
    assert case.verdict.startswith("Never tested")
    assert "no figure" in case.verdict
    assert not case.tested


def test_closing_tokens_say_what_they_were_drawn_from():
    document, _, model = court(rounds=40)
    case = case_of(model, next(closings(document, ClosingKind.CORRECTION)), CLOSING_SLOT)
    assert "from the residual max(0, p_target − q_draft), renormalised" in case.verdict
    assert {bar.role for bar in case.bars} >= {"drafted", "drawn"}
    case = case_of(model, next(closings(document, ClosingKind.BONUS)), CLOSING_SLOT)
    assert "accepted" in case.verdict
    assert all(bar.q_draft is None and bar.residual is None for bar in case.bars)
    case = case_of(model, next(closings(document, ClosingKind.PLAIN)), CLOSING_SLOT)
    assert "neither bonus nor correction" in case.verdict
    assert not case.tested


def test_ngram_says_that_its_law_is_one_hot():
    document, _, model = court(rounds=40, drafter="ngram")
    for fate in (Fate.ACCEPTED, Fate.REJECTED):
        one, slot, _ = next(drafted(document, fate))
        case = case_of(model, one, slot)
        assert any("one-hot" in note and "n-gram" in note for note in case.notes)
        assert f"token {one.match.start + 1})" in " ".join(case.notes)


def test_masses_of_each_law_add_up_to_one():
    document, _, model = court(rounds=40)
    for raw in (False, True):
        model.show_raw = raw
        for one in document.rounds:
            for slot in range(len(one.drafted)):
                case = case_of(model, one, slot)
                for limit in (3, 5, 99):
                    rows = case.rows(limit)
                    for name in ("p_target", "q_draft", "residual"):
                        masses = [getattr(bar, name) for bar in rows]
                        if masses and masses[0] is not None:
                            assert math.fsum(masses) == pytest.approx(1.0, abs=1e-9)


def test_fewer_rows_keep_the_tokens_own():
    document, _, model = court()
    one, slot, token = next(drafted(document, Fate.REJECTED))
    case = case_of(model, one, slot)
    rows = case.rows(4)
    assert len(rows) == 4
    assert rows[-1].label == OTHERS
    assert {bar.token_id for bar in rows} >= {token.id, one.closing.id}
    assert [bar.p_target for bar in case.bars[:-1]] == sorted(
        (bar.p_target for bar in case.bars[:-1]), reverse=True
    )


def test_raw_law_is_named_and_decides_nothing():
    document, _, model = court(temperature=0.7)
    one, slot, token = next(drafted(document, Fate.ACCEPTED))
    processed = case_of(model, one, slot)
    model.show_raw = True
    raw = case_of(model, one, slot)
    assert raw.law == "raw"
    assert raw.bars != processed.bars
    assert raw.threshold == processed.threshold == token.acceptance_probability
    assert raw.verdict == processed.verdict
    assert any("raw law" in note for note in raw.notes)


def test_before_the_verdict_only_the_drafters_law_is_known():
    document, presentation, model = court()
    one, slot, _ = next(drafted(document, Fate.REJECTED))
    presentation.seek(one.index, "draft")
    case = case_of(model, one, slot)
    assert case.fate == "pending"
    assert case.threshold is None
    assert case.u is None
    assert all(bar.p_target is None and bar.residual is None for bar in case.bars)
    assert any(bar.q_draft for bar in case.bars)
    assert [r.name for r in case.readings if r.known] == ["q_draft", "entropy, draft"]


def test_unpinned_it_follows_the_latest_verdict():
    document, presentation, model = court()
    presentation.seek(-1)
    assert model.case() is None
    seen = []
    while not presentation.at_end:
        presentation.advance(1 / 60)
        case = model.case()
        if case and (not seen or seen[-1] != case.ref):
            seen.append(case.ref)
    tested = (Fate.ACCEPTED, Fate.REJECTED)
    expected = []
    for one in document.rounds:
        expected += [
            TokenRef(one.index, slot) for slot, t in enumerate(one.drafted) if t.fate in tested
        ]
        expected += [TokenRef(one.index, CLOSING_SLOT)] if one.closing else []
    assert seen == expected


def test_pinned_token_stays_while_others_are_judged():
    _, presentation, model = court()
    model.pinned = TokenRef(0, 0)
    presentation.seek(5)
    case = model.case()
    assert case.ref == TokenRef(0, 0)
    assert case.pinned
    presentation.seek(-1)
    assert model.case() is None  # not shown yet at this moment
    model.pinned = TokenRef(77, 0)
    presentation.seek(5)
    assert model.case().ref == model.latest_judged()


def test_new_run_lets_the_pinned_token_go():
    document, presentation, model = court()
    model.pinned = TokenRef(1, 0)
    document.clear()
    presentation.advance(0.0)
    assert model.case() is None
    document.extend(make_trace(rounds=4, seed=3, temperature=1.0))
    presentation.seek(3)
    assert model.case().ref == model.latest_judged()


def test_prompt_token_has_no_verdict():
    _, _, model = court()
    model.pinned = TokenRef(PROMPT_ROUND, 0)
    case = model.case()
    assert case.fate == "prompt"
    assert case.bars == ()
    assert "No verdict" in case.verdict


def test_without_observation_the_own_numbers_remain():
    document, _, model = court(top_n=0)
    one, slot, _ = next(drafted(document, Fate.REJECTED))
    case = case_of(model, one, slot)
    assert case.bars == ()
    assert UNOBSERVED in case.notes
    assert case.threshold is not None
    assert case.rows(5) == ()


def test_every_reading_says_how_it_was_obtained():
    document, _, model = court()
    for one in document.rounds:
        for slot in (*range(len(one.drafted)), CLOSING_SLOT):
            if document.token(TokenRef(one.index, slot)) is None:
                continue
            for reading in case_of(model, one, slot).readings:
                assert str(reading.how) in ("measured", "derived")
                assert reading.detail
                assert reading.definition


def test_same_moment_is_the_same_case():
    _, _, model = court()
    assert model.case() is model.case()


def test_token_of_every_round_is_described():
    document, _, model = court(rounds=60, k=3)
    for one in document.rounds:
        assert closing_words(one, greedy=False)
        for slot, token in enumerate(one.drafted):
            assert isinstance(token, DraftedToken)
            case = case_of(model, one, slot)
            assert case.in_words()
            assert case.place == f"Round {one.index + 1}, drafted token {slot + 1} of " + str(
                len(one.drafted)
            )


def test_round_without_closing_token_says_so():
    document, _, _ = court(reason=FinishReason.LIMIT)
    last = document.rounds[-1]
    assert isinstance(last, Round)
    assert last.closing is None
    assert "No closing token" in closing_words(last, greedy=False)
